# On a machine with Python 3.11 or later, git and make:
#   make demo    set up, run the demo project, confirm a clone of it
#   make test    set up, then everything that must hold before a commit
#   make lint    the part of it that runs no tests
#   make bench   how fast (ARGS=--quick for a short look)
#   make clean   remove what these made
# make demo BASE_IMAGE=name:tag builds its container image on that one.
# PYTHON=/path/to/python chooses the interpreter; JOBS=4 the number of test processes.

JOBS ?= 2
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help demo test lint bench clean

help:
	@sed -n 's/^#  *\(make \)/\1/p' Makefile

$(BIN)/python:
	@.ci/python-env

# Re-made when the dependencies or the entry points may have changed; the code itself is linked.
.venv/installed: pyproject.toml | $(BIN)/python
	@echo "Installing vaibify_lab into .venv ..."
	@$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/installed-dev: pyproject.toml | $(BIN)/python
	@echo "Installing vaibify_lab and what its tests need into .venv ..."
	@$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch .venv/installed $@

demo: .venv/installed
	rm -rf demo/co2
	$(BIN)/jupyter-vaibify demo demo/co2 --run $(if $(BASE_IMAGE),--base-image $(BASE_IMAGE))

lint: .venv/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

test: .venv/installed-dev
	@.ci/system-packages
	@$(MAKE) --no-print-directory lint
	@echo "Bringing up the container engine and the registry of the tests ..."
	@.ci/engine --pip >/dev/null
	$(BIN)/pytest -n $(JOBS)

bench: .venv/installed
	$(BIN)/python benchmarks/run.py $(ARGS)

clean:
	rm -rf .venv demo build dist
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
