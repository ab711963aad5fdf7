"""The checks of ``groute-py doctor``: of this machine, and of all ranks of a job together."""
