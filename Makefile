# On a machine with Python 3.11 or later, git and make:
#   make demo    set up, run the demo project, confirm a clone of it, open it in JupyterLab
#   make test    set up, then everything that must hold before a commit
#   make lint    the part of it that runs no tests
#   make bench   how fast (ARGS=--quick for a short look)
#   make clean   remove what these made
# make demo BASE_IMAGE=name:tag builds its container image on that one.
# PYTHON=/path/to/python chooses the interpreter; JOBS=2 the number of test processes.

JOBS ?= 4  # tests wait for containers, kernels and servers more than they compute
BIN := .venv/bin
LAB := $(shell find labextension -name node_modules -prune -o -name lib -prune -o -name test -prune \
  -o -type f ! -name '*.tsbuildinfo' -print)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo test lint bench clean

help:
	@sed -n 's/^#  *\(make \)/\1/p' Makefile

$(BIN)/python:
	@.ci/python-env

# Re-made when the dependencies, the entry points or the lab extension may have changed; the Python
# code itself is linked.
.venv/installed: pyproject.toml hatch_build.py $(LAB) | $(BIN)/python
	@echo "Installing vaibify_lab into .venv ..."
	@$(BIN)/python -m pip install --quiet --editable '.[lab]'
	@touch $@

.venv/installed-dev: pyproject.toml hatch_build.py $(LAB) | $(BIN)/python
	@echo "Installing vaibify_lab and what its tests need into .venv ..."
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch .venv/installed $@

demo: .venv/installed
	rm -rf demo/co2
	$(BIN)/jupyter-vaibify demo demo/co2 --run $(if $(BASE_IMAGE),--base-image $(BASE_IMAGE))
	@.ci/open-lab demo/co2

lint: .venv/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	.ci/jlpm check

test: .venv/installed-dev
	@.ci/system-packages
	@$(MAKE) --no-print-directory lint
	@echo "Bringing up the container engine and the registry of the tests ..."
	@.ci/engine --pip >/dev/null
	.ci/jlpm test
	$(BIN)/pytest -n $(JOBS) --ignore tests/browser
	$(BIN)/pytest -n 2 --dist loadfile tests/browser

bench: .venv/installed
	$(BIN)/python benchmarks/run.py $(ARGS)

clean:
	rm -rf .venv demo build dist
	rm -rf labextension/lib labextension/node_modules labextension/*.tsbuildinfo vaibify_lab/labextension
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
