# make demo    TensorBoard with the sample profiles, on http://127.0.0.1:6006 (PORT=... for another port)
# make check   lint, types and unit tests: what is tried while one works
# make test    everything there is to check
# make docs    the documentation as a site, in build/site
# make bench   speed and memory beside the peers, into benchmarks/RESULTS.md (SIZES="100k 1M" ...; docs/maintainers/benchmarks.md)
# make answers digests of every answer of some twenty traces into ANSWERS=FOLDER, compared with AGAINST=FOLDER
# make house   lines, files and shapes of the sources, to be compared with those of another commit (CHECKOUT=.)
# make attack  hostile files and requests, damage, kills, for MINUTES=10 from SEED=1 on (docs/maintainers/attacks.md)
#
# Needs python3 (3.10 or newer). All else is put into .venv and fe/node_modules; `make test` also installs a
# Chromium if the machine has none. Steps that are up to date are skipped: see the stamps in .venv.

PYTHON  ?= python3
PORT    ?= 6006
LOGDIR  ?= samples
# The run that `make demo` opens with; the page's own choice is the newest one.
RUN     ?= $(if $(filter samples,$(LOGDIR)),generated_4gpu_h100)
MINUTES ?= 10
SEED    ?= 1
PYTHONS ?=
ANSWERS ?= $(OUT)/answers
CHECKOUT ?= .
# one more than cores: a test waits for a browser or a server about a third of its time
WORKERS ?= 3

BIN   := .venv/bin
PY    := $(BIN)/python
# A TensorBoard that a test starts would let a thread of OpenBLAS wait at full speed, as a test itself would.
PYTEST := OPENBLAS_NUM_THREADS=1 $(PY) -m pytest
PIP   := $(PY) -m pip install --quiet --disable-pip-version-check
NPM   := $(PY) _build/frontend.py npm
OUT   := .ci/output

# Which tests run one after the other, and in which order: tests/spread.py.
SPREAD := -n $(WORKERS) --dist loadfile --no-loadscope-reorder

# Commands, servers and workers are started by the hundred: what one of them has compiled, the next need not.
unexport PYTHONDONTWRITEBYTECODE

EXTRAS := arrow,blob,dask,gs,hdfs,mcp,pandas,polars,s3,sql
PACKAGING := pyproject.toml setup.py $(wildcard _build/*.py)

.PHONY: help demo ui ui-maps build clean format bench answers openapi docs check check-py
.PHONY: test test-all-py test-long test-py test-hdfs test-browser test-packaging test-fe fe-lint fe-types fe-unit fe-weight
.PHONY: house attack audit matrix sbom release-dry-run
.PHONY: lint lint-rules lint-format lint-types lint-tests lint-imports lint-words
.DELETE_ON_ERROR:

help:
	@sed -n 's/^# \{0,1\}//p;/^$$/q' Makefile
	@echo "also: make audit, matrix, sbom, release-dry-run (docs/maintainers/releasing.md)"
	@echo "also: make lint, format, test-py, test-hdfs, test-long, test-fe, test-browser, test-packaging, ui, ui-maps, openapi, build, clean"

# ---- what people call

demo: .venv/.stamp-install ui
	@echo "TensorBoard with $(LOGDIR): http://127.0.0.1:$(PORT)/#pytorch_profiler$(if $(RUN),&p.pytorch_profiler.r=$(RUN))  (Ctrl-C stops it)"
	@$(BIN)/tensorboard --logdir $(LOGDIR) --host 127.0.0.1 --port $(PORT)

# Most checks of code take one processor: they run beside each other. What one says comes in one piece, at its end.
BESIDE := -j $(WORKERS) $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
# One pytest run over everything, so that its summary counts every Python and browser test.
STEPS := lint test-fe test-all-py

# The checks of code run beside the tests, which wait for browsers and servers a part of their time, and are shown when
# they have ended. The UI is built before: both want it.
# What a fresh machine lacks is installed beside each other, too: Node first, as pip may bring it.
test:
	@$(MAKE) --no-print-directory .venv/.stamp-node
	@$(MAKE) --no-print-directory $(BESIDE) .venv/.stamp-dev .venv/.stamp-browser .venv/.stamp-servers ui
	@mkdir -p $(OUT); start=$$(date +%s); failed=; \
	$(MAKE) --no-print-directory --keep-going lint test-fe > $(OUT)/checks.log 2>&1 & checks=$$!; \
	trap 'kill $$checks 2>/dev/null' INT TERM; \
	echo "==== make test-all-py"; \
	$(MAKE) --no-print-directory --keep-going test-all-py || failed=" test-all-py"; \
	wait $$checks || failed="$$failed lint test-fe"; \
	echo "==== make lint test-fe"; cat $(OUT)/checks.log; \
	took="$$(( $$(date +%s) - start )) s"; \
	if [ -n "$$failed" ]; then echo "make test: FAILED in:$$failed ($$took)"; exit 1; fi; \
	echo "make test: all passed: $(STEPS) ($$took)"

# What is tried while one works: unit tests but those that the marker "slow" names; no browsers, no servers of others.
check: .venv/.stamp-dev .venv/.stamp-node
	@$(MAKE) --no-print-directory --keep-going $(BESIDE) check-py lint fe-lint fe-types fe-unit

check-py: .venv/.stamp-dev
	$(PYTEST) $(SPREAD) -m "not slow and not long" -q tests/unit

# In parts, so that "make -k" finds all there is to find.
lint: lint-rules lint-format lint-types lint-tests lint-imports lint-words

lint-rules: .venv/.stamp-dev
	$(BIN)/ruff check . _build

lint-format: .venv/.stamp-dev
	$(BIN)/ruff format --check . _build

lint-types: .venv/.stamp-dev
	$(BIN)/mypy

# Names and calls in tests that the package does not have.
lint-tests: .venv/.stamp-dev
	$(BIN)/mypy --config-file tests/mypy.ini

lint-imports: .venv/.stamp-dev
	$(BIN)/lint-imports

# Words of documents and of the UI: _build/words.toml.
lint-words: .venv/.stamp-dev
	@$(PY) _build/words.py

format: .venv/.stamp-dev .venv/.stamp-node
	$(BIN)/ruff check --fix . _build
	$(BIN)/ruff format . _build
	$(NPM) run format

test-fe: fe-lint fe-types fe-unit fe-weight

fe-lint: .venv/.stamp-node
	$(NPM) run lint

fe-types: .venv/.stamp-node
	$(NPM) run typecheck

fe-unit: .venv/.stamp-node
	$(NPM) run test

# What a browser fetches, with limits.
fe-weight: ui
	@$(PY) _build/weight.py

test-py: .venv/.stamp-dev .venv/.stamp-servers
	$(PYTEST) $(SPREAD) -m "not browser and not hdfs and not long" --ignore tests/packaging

# Not a part of make test: it takes Java and a C compiler.
test-hdfs: .venv/.stamp-dev .venv/.stamp-hdfs
	$(PYTEST) -m hdfs tests/storage

test-browser: .venv/.stamp-dev .venv/.stamp-browser ui
	$(PYTEST) -m "not long" tests/browser

# Larger forms of what make test does, every night and before a release: docs/contributing.md names them.
test-long: .venv/.stamp-dev .venv/.stamp-browser ui
	$(PYTEST) $(SPREAD) -m long --durations 10 tests
	THOROUGH=1 $(PYTEST) $(SPREAD) -m "hypothesis or axe" -q tests
	OPENBLAS_NUM_THREADS=1 $(PY) -m tests.mutations 100 $(SEED)

test-packaging: .venv/.stamp-dev ui
	$(PYTEST) tests/packaging

test-all-py: .venv/.stamp-dev .venv/.stamp-browser .venv/.stamp-servers ui
	@mkdir -p $(OUT)
	$(PYTEST) $(SPREAD) -m "not hdfs and not long" --durations 25 --junitxml $(OUT)/pytest.xml

ui: .venv/.stamp-node
	@$(PY) _build/frontend.py build

# Source maps of the UI that this checkout builds, into build/maps (docs/contributing.md).
ui-maps: .venv/.stamp-node
	$(NPM) run maps

# A test says when it is to be made anew.
openapi: .venv/.stamp-dev
	@$(PY) -m torch_tb_profiler.web.openapi > docs/openapi.json

# Pictures are made of the samples.
docs: .venv/.stamp-dev .venv/.stamp-browser ui
	@$(PY) _build/site_of_docs.py

# SIZES: of 10k 100k 1M 8x100k (these by default), 5M, 10GB, checks, engine, flops, program, cli, sql.
bench: .venv/.stamp-dev
	@$(PY) -m benchmarks.run $(SIZES)

# Before and after a change: which answers it changes (docs/contributing.md).
answers: .venv/.stamp-dev
	@$(PY) -m tests.answer_digests $(ANSWERS) $(if $(AGAINST),--against $(AGAINST))

house:
	@$(PYTHON) _build/house.py $(CHECKOUT)

# Without atheris its search in the reader is random, and says so.
attack: .venv/.stamp-dev
	@$(PIP) --only-binary :all: --group fuzz 2>/dev/null || echo "make attack: there is no atheris for this Python"
	$(PY) -m tests.attack.run $(MINUTES) $(SEED)

# Wheel and sdist, the same bytes for the same sources.
build: .venv/.stamp-build ui
	rm -rf dist
	$(PY) -m build

sbom: .venv/.stamp-venv
	@$(PY) _build/sbom.py

audit: .venv/.stamp-node .venv/.stamp-pip
	@$(PIP) --group audit || echo "make audit: pip-audit cannot be installed"
	@$(PY) _build/audit.py

# The wheel under every Python of the machine, with the oldest and the newest of what it needs. PYTHONS="3.10 3.12": these.
matrix: build
	@$(PY) _build/matrix.py dist/*.whl $(PYTHONS)

# All that is done for a release, but for the upload.
release-dry-run: .venv/.stamp-build ui
	@$(PIP) --group audit || true
	@$(PY) _build/release.py

clean:
	rm -rf .venv build dist *.egg-info fe/node_modules fe/dist torch_tb_profiler/static $(OUT)
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# ---- stamps: each says that one part of .venv is as its prerequisites ask

.venv/.stamp-venv:
	$(PYTHON) _build/environment.py .venv
	@touch $@

# Dependency groups take a newer pip than the one that some Pythons bring.
.venv/.stamp-pip: .venv/.stamp-venv
	$(PIP) --upgrade 'pip>=25.1'
	@touch $@

.venv/.stamp-build: .venv/.stamp-pip pyproject.toml
	$(PIP) --group build
	@touch $@

# Node of the machine, or from PyPI.
.venv/.stamp-node: .venv/.stamp-venv
	@$(PY) _build/frontend.py has-node || \
	    { echo "No Node.js 20.19+ found: installing one into .venv"; $(PIP) "$$($(PY) _build/frontend.py node-requirement)"; }
	@touch $@

# In place, and without the UI: `make ui` builds that whenever fe/ changed.
.venv/.stamp-install: .venv/.stamp-venv $(PACKAGING)
	SKIP_BUILD_FE=1 $(PIP) --editable .
	@touch $@

.venv/.stamp-dev: .venv/.stamp-pip $(PACKAGING)
	SKIP_BUILD_FE=1 $(PIP) --editable '.[$(EXTRAS)]' --group dev --group storage-tests
	@touch $@ .venv/.stamp-install .venv/.stamp-build

# Azurite, for tests/storage.
.venv/.stamp-servers: .venv/.stamp-node tests/storage/servers/package-lock.json
	$(PY) _build/frontend.py npm-in tests/storage/servers ci --ignore-scripts
	@touch $@

# A NameNode, a DataNode and libhdfs.
.venv/.stamp-hdfs: .venv/.stamp-venv _build/hadoop.py
	$(PY) _build/hadoop.py .venv/hadoop
	@touch $@

.venv/.stamp-browser: .venv/.stamp-dev .venv/.stamp-node
	$(PY) _build/browser.py
	@touch $@
