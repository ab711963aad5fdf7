"""The methods, one file each; `groute_py.algorithms.base.algorithms` is the registry."""
