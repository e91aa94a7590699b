# `make report` builds the report of the demo suite, `make docs` the handbook, `make test` tests in some minutes all but
# whole runs, which `make test-all` adds. All set themselves up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# The files name every package with its version, so there is nothing to find out, but on systems that want one
# more (macOS); bytecode is made afterwards, by all cores. uv unpacks them side by side, in a fifth of pip's time; where
# it cannot be had or reaches nothing, pip does it.
UV := uv==0.13.9
INDEX := index=$${PIP_INDEX_URL:-$$($(PIP) config get global.index-url 2>/dev/null || true)}
unpack = $(PIP) install --no-deps $(UV) && $(INDEX) && $(BIN)/uv pip install --quiet --no-cache --native-tls --no-deps \
  --python $(BIN)/python $${index:+--default-index "$$index"} -r $(1)
with_pip = $(PIP) install --no-deps --no-compile -r $(1)
complete = { $(PIP) check >/dev/null || $(PIP) install -r $(1); }
install = { $(unpack) || $(with_pip); } && $(complete)
# Bytecode only saves time; packages hold files for other versions of Python, which compile to nothing here.
COMPILE := $(BIN)/python -m compileall -qq -j 0 -x '/(tests|testing|Cython|debugpy|pip|setuptools)/' $(VENV)/lib || true
SUITE ?= suite.yml
OUT ?= build
NEURAL := $(VENV)/.installed-neural

.PHONY: report docs test test-all golden neural lint format clean compiled
.DEFAULT_GOAL := report

report: $(VENV)/.installed $(if $(filter neural.yml,$(notdir $(SUITE))),$(NEURAL)) compiled
	$(BIN)/soundcheck run $(SUITE) --out $(OUT)

# The handbook: all methods and the manual, as any book of Jupyter Book. Its matrices are small: with threads for each
# product it takes a third longer.
docs: $(VENV)/.installed compiled
	OPENBLAS_NUM_THREADS=1 $(BIN)/jupyter-book build . --path-output $(OUT)/docs -W --keep-going

# A worker takes one file after the other, in the order that tests/conftest.py puts them: longest first.
test: $(VENV)/.installed-test compiled lint
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder -m "not slow"

test-all: $(VENV)/.installed-test compiled lint
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# What suites and commands gave before a change: make golden, or make golden WORLDS="demo artie"; with RECORD=--record
# it is written anew.
golden: $(VENV)/.installed-test compiled
	$(BIN)/python tests/golden/golden.py $(WORLDS) $(RECORD)

# Packages that run networks, for suites/neural.yml and for tests that are skipped without them: make neural test-all
neural: $(NEURAL)

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(VENV)/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Hundreds of short-lived processes import the library, and none of the children may write its bytecode.
compiled: | $(VENV)/bin/python
	@$(BIN)/python -m compileall -q lib

clean:
	rm -rf $(VENV) dist

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Soundcheck needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements.txt pyproject.toml | $(VENV)/bin/python
	$(call install,requirements.txt)
	@$(COMPILE)
	@touch $@

$(VENV)/.installed-test: requirements-test.txt requirements.txt pyproject.toml | $(VENV)/bin/python
	$(call install,requirements-test.txt)
	@$(COMPILE)
	@touch $(VENV)/.installed $@

# By pip, which takes a build of PyTorch for processors where its settings name one; the registry's is several GB.
$(NEURAL): requirements-neural.txt | $(VENV)/.installed-test
	$(call with_pip,$<) && $(call complete,$<)
	@$(COMPILE)
	@touch $@
