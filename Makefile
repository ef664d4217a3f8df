# Guild Queue. Everything runs from .venv, which the first command makes.
.DEFAULT_GOAL := help
.PHONY: help run test lint bench openapi
.DELETE_ON_ERROR:

SHELL := /bin/sh
PYTHON ?= $(shell command -v python3 || command -v python)
PY := .venv/bin/python

# A stamp is named by what was installed, and for which Python and folder: nothing changed, nothing to do.
RUN_FILES := pyproject.toml requirements.txt requirements-worker.txt
stamp = .venv/.$(1)-$(shell { cat $(2); $(PYTHON) -V; pwd; } 2>&1 | cksum | tr -d ' ')
RUN_STAMP := $(call stamp,run,$(RUN_FILES))
DEV_STAMP := $(call stamp,dev,$(RUN_FILES) requirements-dev.txt)

help: ## Say what there is
	@echo "make run    start the console on http://127.0.0.1:8000 and a worker; PORT=, WORKERS= and DATABASE_URL= are read"
	@echo "make test   linters, types, layers and all tests"
	@echo "make lint   linters, types and layers alone"
	@echo "make bench  the benchmarks; their figures go to standard output"
	@echo "make openapi  write docs/openapi.json anew, after a change of the JSON API"
	@echo "make help   this list"

run: $(RUN_STAMP)
	@exec $(PY) -m console.running

test: $(DEV_STAMP) lint
	$(PY) -m tests.chromium
	$(PY) -m tests.javascript
	@# Tests wait more than they compute, so three share two processors well.
	$(PY) -m pytest -m 'not alone' --numprocesses 3 --dist loadfile --no-loadscope-reorder
	@# What measures seconds or memory has the machine to itself.
	$(PY) -m pytest -m alone

lint: $(DEV_STAMP)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports
	find templates -name '*.html' -exec .venv/bin/djade --check --target-version 5.2 {} +

bench: $(DEV_STAMP)
	$(PY) -m benchmarks $(ARGS)

openapi: $(DEV_STAMP)
	$(PY) manage.py openapi --output docs/openapi.json

$(RUN_STAMP):
	@test -n "$(PYTHON)" || { echo "There is no python3 here: install Python 3.11 or newer." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "$$($(PYTHON) -V) is too old: Python 3.11 or newer is needed (make PYTHON=python3.11 ...)." >&2; exit 1; }
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv || { echo "$(PYTHON) cannot make a virtual environment: install its venv package (python3-venv)." >&2; exit 1; }
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt -r requirements-worker.txt
	@rm -f .venv/.run-*; touch $@

$(DEV_STAMP): $(RUN_STAMP)
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt -r requirements-worker.txt -r requirements-dev.txt
	@rm -f .venv/.dev-*; touch $@
