"""The methods, one file each; `groute_py.algorithms.choose.algorithms` is the registry."""
