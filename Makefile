# The rebalance kit. `make lab` and `make test` each work alone from a clean clone, on a machine with
# Python 3.11 or newer, make and the package index.
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup lab demo site test test-live check lint format notebooks forms golden bench fidelity what-if forensics pyz pictures page api clean

VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.rebalance-kit-lab
STAMP := $(VENV)/.rebalance-kit-installed
EXTRAS := lab spark study export clients serve print site test dev browser

PYTHON ?=
LAB_FLAGS ?=
TEST_FLAGS ?= -n 3 --no-loadscope-reorder
DEMO ?= two-consumers-crash

help: ## say what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "make %-10s %s\n", $$1, $$2}'

setup: $(STAMP) ## install everything into .venv: the kit, its lab, Spark, its own tests (1.5 GB)

# What the lab needs, and no more. The rest follows with `rebalance-kit install NAME` when something asks for it.
$(READY): pyproject.toml scripts/find-python
	@test -x $(BIN)/python || { python=$$(scripts/find-python $(PYTHON)) && "$$python" -m venv $(VENV); }
	@echo "installing the kit and its lab into $(VENV): about 260 MB, a minute or less"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@$(BIN)/python -m rebalance_kit install lab
	@mkdir -p $(VENV)/etc/jupyter/labconfig  # JupyterLab asks nobody for news
	@echo '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}' >$(VENV)/etc/jupyter/labconfig/page_config.json
	@touch $@

# Spark needs a Java: where the machine has none (17 or newer), one comes along as a Python package.
$(STAMP): $(READY)
	@echo "installing Spark and the kit's own tests into $(VENV): about 1.5 GB in all, a minute or a few"
	@$(BIN)/python -m rebalance_kit install $(EXTRAS)
	@touch $@

lab: $(READY) ## open JupyterLab on the first notebook (LAB_FLAGS="--no-browser" and the like)
	@$(BIN)/python scripts/bundle.py
	@$(BIN)/python -c "from pathlib import Path; from rebalance_kit.classroom.handing_out import trust; trust(Path('notebooks'))"
	@root=""; test "$$(id -u)" != 0 || root=--allow-root; \
	exec $(BIN)/jupyter lab --ServerApp.ip=127.0.0.1 --ServerApp.root_dir="$(CURDIR)" $$root \
	  --LabApp.default_url=/lab/tree/notebooks/00-start-here.ipynb $(LAB_FLAGS)

demo: $(READY) ## run one crash under the three protocols, without a browser
	@$(BIN)/python scripts/bundle.py
	$(BIN)/rebalance-kit run $(DEMO) --protocol all --out build/demo
	@echo; echo "the report to open in a browser:"; find "$(CURDIR)/build/demo" -name '*.html'

site: page ## write lab, course and documents as a static site to build/site: Python runs in the page, any host serves it
	$(BIN)/python -m scripts.site
	@echo "to look at it: $(BIN)/python -m http.server --bind 127.0.0.1 --directory build/site 8000"

test: page ## check everything: style, types, rooms, doctests, tests, notebooks, browser
	@scripts/find-chromium
	@$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest $(TEST_FLAGS)

check: page ## look quickly before a commit: style, types, rooms, tests that name what was changed (SINCE=main)
	@$(BIN)/python scripts/check.py $(SINCE)

api: $(STAMP) ## write docs/api.md, the public names with their examples
	$(BIN)/python scripts/api.py

test-long: page ## before a release, an hour or more: every case of the products, ten times the draws, 2,000 sessions of clicks
	REBALANCE_KIT_LONG=1 $(BIN)/python -m pytest $(TEST_FLAGS) -m long
	REBALANCE_KIT_LONG=1 $(BIN)/python -m pytest $(TEST_FLAGS) --timeout=0 tests/assignors tests/analysis tests/simulation tests/view/truth tests/browser/test_course_in_the_page.py

test-live: page ## the tests against a real Kafka, which is fetched from Maven Central once (minutes of real time)
	REBALANCE_KIT_LIVE=1 $(BIN)/python -m pytest -m live tests/live tests/browser/test_lab_on_a_live_group.py -n 0
	REBALANCE_KIT="$(abspath $(BIN))/rebalance-kit" mvn -q -B -f java/pom.xml test

page: $(STAMP) ## bundle the page's JavaScript from page/ into the package, where that is not done yet
	@$(BIN)/python scripts/bundle.py

lint: $(STAMP) ## check style, types and rooms
	$(BIN)/python scripts/page.py lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache

format: $(STAMP) ## mend what can be mended without thought
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/python scripts/page.py format

notebooks: page ## execute notebooks/src/*.py into notebooks/*.ipynb (ONLY="03" for one)
	$(BIN)/python scripts/notebooks.py $(ONLY)

forms: page ## make learner's copies, completed ones, slides, handouts, nbgrader's release in build/forms (ONLY="03")
	$(BIN)/python scripts/forms.py $(ONLY)

golden: $(STAMP) ## rewrite the stored texts that tests compare with; read the diff
	$(BIN)/python -m pytest --update-golden -q

bench: page ## measure speed and memory beside peers, and write docs/benchmarks.md (ONLY="engine" for one)
	$(BIN)/python benchmarks/gather.py $(ONLY)

fidelity: $(STAMP) ## repeat every recorded run in the engine and write docs/fidelity.md (DRAWS=40)
	$(BIN)/python scripts/fidelity.py $(DRAWS)

what-if: $(STAMP) ## predict every recorded run from the logs of its siblings and write docs/what-if.md (DRAWS=60)
	$(BIN)/python scripts/what_if.py $(DRAWS)

forensics: $(STAMP) ## judge the forensics on every recorded run and write docs/forensics.md
	$(BIN)/python scripts/forensics.py

pyz: $(STAMP) ## the reading of logs as one file for any Python from 3.11 on
	$(BIN)/python scripts/pyz.py

pictures: $(STAMP) ## photograph the lab in a browser, for the documents
	REBALANCE_KIT_LONG=1 $(BIN)/python -m pytest tests/browser/test_lab_pictures.py -q && $(BIN)/python scripts/pictures.py && $(BIN)/python scripts/pictures.py film

clean: ## remove everything that make has made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .benchmarks spark-warehouse
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
