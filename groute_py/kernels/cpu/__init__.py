"""CPU kernels, compiled by Numba on first use and kept in Numba's own file cache.

Nothing outside this package imports Numba, and in it `kernel` alone. Numba compiles for the types
of a call, so annotations are `Any`. Unless a docstring says otherwise,

* ``arcs`` are ``offsets`` (n + 1,), ``heads`` and ``weights`` (m,), a graph in CSR form. Solvers
  get them as uint64, uint32 and the distance type, which spares the test for negative indices;
* ``distances`` (n,) are unreached, ``nothing``, where no path leads;
* ``cutoff`` is the greatest distance that is kept, in the distance type;
* ``at`` are int64 cursors; `groute_py.kernels.cpu.near_far` names those of solvers;
* ``bounds`` are ``limit``, ``cutoff``, ``nothing`` and ``budget``: a slice of work ends after about
  ``budget`` arcs, or beyond ``limit``, a float64 that is compared as such on every device, so that
  the rank whose floor set it finds work below it.
"""
