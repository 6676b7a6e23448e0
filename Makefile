# A fresh clone needs Python 3.11 or newer and make, nothing else. `make help` lists what there is.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11
JOBS ?= $(shell expr $$(nproc 2>/dev/null || echo 1) + 2)# tests wait for processes and browsers: two more than there are cores keep those busy
ARGS ?=
NAME ?=

# Byte code is written even where the environment forbids it: without it every start of the program is two to three times slower.
COMPILED := env -u PYTHONDONTWRITEBYTECODE
PIP := $(COMPILED) $(BIN)/python -m pip install --quiet --no-input --disable-pip-version-check
# Tests write thousands of small databases, each synced: with memory to spare they lie in memory, unless TMPDIR says where.
ROOMY := 8388608# kB, of memory and of what may be filled with files
SCRATCH = $(if $(TMPDIR),,$(shell df -Pk /dev/shm 2>/dev/null | cat - /proc/meminfo 2>/dev/null | \
	awk '$$6 == "/dev/shm" { files = $$4 } $$1 == "MemAvailable:" { memory = $$2 } \
	END { if (files > $(ROOMY) && memory > $(ROOMY)) print "TMPDIR=/dev/shm" }'))
VERSIONED := pyproject.toml src/hindbrain/__init__.py

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test check format reference bench screenshots clean compiled

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(BIN)/python:
	@for python in $(PYTHON); do \
		if command -v "$$python" >/dev/null 2>&1 && "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			"$$python" -m venv $(VENV) && exit 0; \
			rm -rf $(VENV); \
			echo "$$python cannot make a virtual environment; on Debian and Ubuntu the package python3-venv adds that" >&2; \
			exit 1; \
		fi; \
	done; \
	echo "Hindbrain needs Python 3.11 or newer, and none was found as: $(PYTHON)." >&2; \
	echo "Install one, or name it: make PYTHON=/path/to/python3 run" >&2; \
	exit 1

# The package is installed as a link to src/, so that only new dependencies or a new version need a new installation.
$(VENV)/.ready-run: $(VERSIONED) | $(BIN)/python
	@echo "installing Hindbrain into $(VENV); the first time takes half a minute"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.ready-test: $(VERSIONED) | $(BIN)/python
	@echo "installing what the tests need into $(VENV)"
	@$(PIP) --editable '.[test]'
	@touch $@ $(VENV)/.ready-run

$(VENV)/.ready-check: $(VERSIONED) | $(BIN)/python
	@echo "installing what the checks need into $(VENV)"
	@$(PIP) --editable '.[check,test]'
	@touch $@ $(VENV)/.ready-run $(VENV)/.ready-test

# The tests and benchmarks share one model, apart from the one in your home. Without a network they run without it and say so.
$(VENV)/.ready-model: src/hindbrain/stores/model_build.py src/hindbrain/stores/model_corpus.txt src/hindbrain/policy/embedding.py | $(VENV)/.ready-test
	@if HINDBRAIN_HOME=$(CURDIR)/$(VENV)/model-home $(BIN)/python tools/first_steps.py --model-into $(CURDIR)/$(VENV)/models; then touch $@; \
	else test "$$CI" != true; fi

# Messages reach terminals by tmux, commands of `hindbrain run` run in bubblewrap, and the tests use the real ones. Where one is missing and
# may be installed, it comes from the system's packages; elsewhere its tests say that they are skipped, and on CI they fail.
$(VENV)/.ready-tmux: | $(BIN)/python
	@for program in tmux:tmux bwrap:bubblewrap; do \
		command -v "$${program%%:*}" >/dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && \
		apt-get install -qq --yes "$${program##*:}" >/dev/null 2>&1; } || true; \
	done
	@touch $@

# The Hall is tested in a real browser, the system's Chromium: got and missed in the same way.
$(VENV)/.ready-chromium: | $(BIN)/python
	@command -v chromium >/dev/null 2>&1 || command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && apt-get install -qq --yes chromium >/dev/null 2>&1; } || true
	@touch $@

compiled:
	@$(COMPILED) $(BIN)/python -m compileall -q src/hindbrain

run: $(VENV)/.ready-run compiled ## install, start the owner, and say what to do next
	@$(COMPILED) $(BIN)/python tools/first_steps.py

test: $(VENV)/.ready-test $(VENV)/.ready-model $(VENV)/.ready-tmux $(VENV)/.ready-chromium compiled ## run every test (ARGS="-k north" for some, JOBS=1 for one process)
	@$(COMPILED) $(SCRATCH) $(BIN)/python -m pytest -n $(JOBS) --maxprocesses 8 $(ARGS)

# The types are looked at beside the rest.
check: $(VENV)/.ready-check ## format, lint, types, layers, reference pages
	@$(BIN)/mypy & types=$$!; \
	$(BIN)/ruff format --check . && $(BIN)/ruff check . && $(BIN)/python tools/reference.py --check && \
	$(COMPILED) $(BIN)/python -m pytest -q -p no:cacheprovider tests/architecture/test_layers.py tests/architecture/test_roles.py; \
	rest=$$?; wait $$types && exit $$rest

format: $(VENV)/.ready-check ## put the code into the one format and sort its imports
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

reference: $(VENV)/.ready-run ## write docs/reference/ anew from registry, errors and settings
	@$(BIN)/python tools/reference.py

bench: $(VENV)/.ready-test $(VENV)/.ready-model $(VENV)/.ready-chromium compiled ## list the benchmarks; NAME=startup runs one, NAME=all runs all
	@$(COMPILED) $(BIN)/python tools/bench.py $(NAME) $(ARGS)

screenshots: $(VENV)/.ready-test $(VENV)/.ready-chromium compiled ## take pictures of every view of the Hall into docs/screenshots/
	@$(COMPILED) $(BIN)/python tools/screenshots.py $(ARGS)

clean: ## remove everything that was made here; your memory is in the home and stays
	@if [ -x $(BIN)/hindbrain ]; then $(BIN)/hindbrain stop >/dev/null 2>&1 || true; fi
	@rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis tests/clients/node_modules
	@find src tests tools benchmarks -type d -name __pycache__ -prune -exec rm -rf {} +
