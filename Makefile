# The entry to everything. `make run` and `make test` need Python 3.11 or newer and nothing else.

PYTHON ?= python3
BIN := .venv/bin
PYTEST := $(BIN)/python -m pytest

.DEFAULT_GOAL := run
.PHONY: run test test-slow check bench environment dev-environment clean-free

run: environment  ## sample picture -> default model -> mask, overlay, dataset
	$(BIN)/segstudio demo --out demo-output

test: dev-environment  ## every quick test
	$(PYTEST) -m "not slow" -n 2

test-slow: dev-environment  ## training, soak and timing tests
	OMP_NUM_THREADS=2 $(PYTEST) -m slow

check: dev-environment  ## style, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy packaging/*.py
	$(BIN)/lint-imports --no-logo

bench: dev-environment  ## budgets, as ratios against a reference operation of the same run
	$(PYTEST) tests/bench -s

environment:
	@$(PYTHON) packaging/setup_environment.py

dev-environment:
	@$(PYTHON) packaging/setup_environment.py --dev

clean-free:  ## free the disk of what can be made again; the environment stays
	rm -rf demo-output build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find segstudio tests packaging -name __pycache__ -type d -prune -exec rm -rf {} +
