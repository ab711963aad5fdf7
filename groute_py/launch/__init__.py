"""Start groute-py on several ranks: pure functions from a plan to a command line or a batch script.

``python -m groute_py.launch -n 4 -- sssp usa.gr`` finds the right ``mpirun`` and the options it
needs; ``sssp.sbatch`` in this folder is a Slurm job that works as it is.
"""
