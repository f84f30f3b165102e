# Two commands: `make demo` and `make test`. Everything is installed into $(VENV); nothing else is touched.

VENV ?= .venv
BIN = $(VENV)/bin

# The first of these that is Python 3.11 or newer and can make an environment.
CAN = -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
PY ?= $(shell for name in python3.13 python3.12 python3.11 python3 python; do \
	if $$name $(CAN); then command -v $$name; break; fi; done)

# An environment is kept when pyproject.toml changes, and made anew where the command line names another Python.
WHICH = -c 'import os, sys; print(sys.version.split()[0], "of", os.path.realpath(sys.base_prefix))' 2>/dev/null
ifeq ($(origin PY) $(wildcard $(VENV)/pyvenv.cfg),command line $(VENV)/pyvenv.cfg)
MADE_WITH := $(shell $(BIN)/python $(WHICH))
ifneq ($(MADE_WITH),$(shell $(PY) $(WHICH)))
ANEW := anew
endif
endif

# uv installs in seconds; where it cannot be had, pip does the same more slowly.
INSTALL = if $(BIN)/python -m uv --version >/dev/null 2>&1 \
	&& $(BIN)/python -m uv pip install -q --python $(BIN)/python -e

.PHONY: anew demo test browser pictures check lab bench notebooks env clean help
.DEFAULT_GOAL := help

demo: $(VENV)/.ok  ## run the tutorial and print the composed table
	@$(BIN)/python notebooks/demo.py

test: $(VENV)/.ok  ## all tests, the tutorials included
	$(BIN)/python -m pytest -q
	$(BIN)/python -m pytest -q --nbval --nbval-current-env --nbval-cell-timeout 60 \
		--nbval-sanitize-with notebooks/nbval_sanitize.cfg notebooks/*.ipynb

browser: $(VENV)/.ok-browser  ## JupyterLab, Notebook 7 and Voila in a real browser (needs Debian's chromium, or Chrome)
	$(BIN)/python -m pytest -q tests/browser

pictures: $(VENV)/.ok-browser  ## the same, its pictures saved over those of the docs
	AGENTCTX_PICTURES=build/pictures $(BIN)/python -m pytest -q tests/browser
	$(BIN)/python -m tests.browser.choose_pictures

check: $(VENV)/.ok-dev  ## ruff and strict mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

lab: $(VENV)/.ok-lab  ## open JupyterLab on the tutorial (also as root, in a container)
	$(BIN)/jupyter lab --allow-root notebooks/01_quickstart.ipynb

BENCHMARKS = peers compose options keywords startup kernel display growth templates search minilm learn retrieval

bench: $(VENV)/.ok-bench  ## every benchmark, each beside what a user would pick instead; one table of all at the end
	@$(BIN)/python benchmarks/goals.py --begin $(BENCHMARKS)
	@failed=; stopped=; trap 'stopped=1' INT; for one in $(BENCHMARKS); do \
		printf '\n%s\n\n' "$$one"; $(BIN)/python benchmarks/$$one.py || failed="$$failed $$one"; \
		test -z "$$stopped" || break; done; \
	printf '\nall of them\n\n'; $(BIN)/python benchmarks/goals.py; \
	test -z "$$failed" || { echo "did not end well:$$failed"; exit 1; }

notebooks: $(VENV)/.ok  ## execute every tutorial again, in place
	$(BIN)/python notebooks/build.py

env: $(VENV)/.ok  ## only set up $(VENV); with PY=/path/to/python3 of that Python

clean:  ## remove the environment and what was built
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

help:  ## this list
	@awk -F ':.*  ## ' '/^[a-z]+:.*  ## / { printf "make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

$(VENV)/.ok: pyproject.toml $(ANEW)
	@test -n "$(PY)" && $(PY) $(CAN) || { echo "agentctx_nb needs Python 3.11 or newer with its venv module," \
		"$(if $(PY),which $(PY) is not,and none was found)." \
		"Install one (Debian, Ubuntu: apt install python3-venv) or name it: make $(MAKECMDGOALS) PY=/path/to/python3"; exit 1; }
	@test -z "$(ANEW)" || echo "$(VENV) was made with Python $(MADE_WITH), not with $(PY):" \
		"it is made anew, without what you installed into it yourself"
	@test -z "$(ANEW)" && $(BIN)/python -m pip --version >/dev/null 2>&1 || $(PY) -m venv $(if $(ANEW),--clear) $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check uv || echo "uv cannot be installed here; going on with pip"
	@$(INSTALL) '.[test]'; then :; else $(BIN)/python -m pip install -q -e '.[test]'; fi
	@touch $@

$(VENV)/.ok-bench $(VENV)/.ok-dev $(VENV)/.ok-lab $(VENV)/.ok-browser: $(VENV)/.ok-%: $(VENV)/.ok
	@$(INSTALL) '.[$*]'; then :; else $(BIN)/python -m pip install -q -e '.[$*]'; fi
	@touch $@
