SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := $(CURDIR)/.venv/bin
export PATH := $(BIN):$(PATH)
# Each command starts many Python processes; without bytecode, each compiles the same modules.
unexport PYTHONDONTWRITEBYTECODE

# Validators of the state machines, if npm can install them; otherwise their tests say so.
ASL_VALIDATOR := $(if $(shell command -v npm),tests/template/asl/node_modules/.package-lock.json)

.PHONY: help setup demo test proofs second trino soak check product bench events reference pictures docs package sbom audit lock clean

help: ## Show this help
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: .venv/.ready ## Create the Python environment in .venv, with pinned versions

.venv/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(0 if sys.version_info >= (3, 11) else \
	  f"$(PYTHON) is Python {v}; bucketsum needs 3.11 or newer: make PYTHON=python3.13 ...")'
	@echo "Creating the environment under .venv (once; about a minute)"
	@$(PYTHON) -m venv .venv
	@mkdir -p .venv/locks && awk '/^[^ #]/ { n++ } { print > (".venv/locks/" n % 4) }' requirements.lock
	@ls .venv/locks/* | xargs -n 1 -P 4 $(BIN)/python -m pip download --disable-pip-version-check --progress-bar off \
	  --no-deps --require-hashes --only-binary :all: --dest .venv/wheels --requirement \
	  | { test -t 1 && count='\r  %d wheels' || count=; awk -v count="$$count" '/^(Saved|File was already)/ \
	  { ++n; printf count, n; fflush() } END { print count ? "" : "  " n " wheels" }'; }
	@echo "  installing them"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-index --find-links .venv/wheels uv
	@$(BIN)/uv pip install --quiet --compile-bytecode --python .venv --no-index --find-links .venv/wheels \
	  --require-hashes --requirement requirements.lock
	@$(BIN)/uv pip install --quiet --python .venv --no-deps --no-build-isolation --editable .
	@touch $@

demo: .venv/.ready ## Upload real files to a stack on the local emulator, check every SHA-1, and run a quick sweep (KEEP=1 keeps the stack)
	@$(BIN)/bucketsum local demo --sweep $(if $(KEEP),--keep)

test: .venv/.ready $(ASL_VALIDATOR) ## Run every test (ARGS=tests/unit: only these; COVERAGE=1: with coverage, as in continuous integration)
	@$(BIN)/pytest --numprocesses auto $(ARGS) $(if $(COVERAGE),--cov --cov-report=term-missing:skip-covered)

PROOFS := .venv/proofs

NEWEST := from bucketsum_cli.emulator.interpreter import newest_interpreter; print(newest_interpreter().path)

$(PROOFS)/.ready: .venv/.ready requirements-proofs.lock tests/proofs/pom.xml
	@$(BIN)/uv venv --quiet --clear --python "$$($(BIN)/python -c '$(NEWEST)')" $(PROOFS)
	@$(BIN)/uv pip install --quiet --python $(PROOFS) --require-hashes --requirement requirements-proofs.lock
	@mvn --batch-mode --quiet --file tests/proofs/pom.xml \
	  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies -DoutputDirectory=$(CURDIR)/$(PROOFS)/java
	@touch $@

proofs: $(PROOFS)/.ready ## Check patterns, permissions, state machines and template with the tools of others (Python 3.13, Java, Maven)
	@$(BIN)/pytest --numprocesses 0 tests/proofs $(ARGS)

SECOND := .venv/second

$(SECOND)/.ready: .venv/.ready requirements-second.lock
	@$(BIN)/uv venv --quiet --clear --python "$$($(BIN)/python -c '$(NEWEST)')" $(SECOND)
	@$(BIN)/uv pip install --quiet --python $(SECOND) --require-hashes --requirement requirements-second.lock
	@touch $@

second: $(SECOND)/.ready ## Run the end-to-end tests on a second emulator of AWS (Linux, Python 3.13, Java, Maven; ten minutes)
	@PYTHONPATH=. $(BIN)/pytest --numprocesses 0 -p tests.second.plugin $(or $(ARGS),tests/e2e)

TRINO := .venv/trino
TRINO_RELEASE := io.trino:trino-server:476:tar.gz

# 800 MB, for two plugins of many: the others are hard links to each other, and go after it is unpacked.
$(TRINO)/plugin/iceberg/.ready: .venv/.ready
	@rm -rf $(TRINO) && mkdir -p $(TRINO)
	@PYTHONPATH=. $(BIN)/python -c 'import sys; from tests.cli.trino.trino_server import java; sys.exit(not java())' \
	  && mvn --batch-mode --quiet org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy \
	    -Dartifact=$(TRINO_RELEASE) -DoutputDirectory=$(CURDIR)/$(TRINO) \
	  && tar -xzf $(TRINO)/trino-server-*.tar.gz -C $(TRINO) --strip-components 1 \
	  && find $(TRINO)/plugin -mindepth 1 -maxdepth 1 ! -name hive ! -name iceberg -exec rm -rf {} + \
	  && rm -rf $(TRINO)/trino-server-*.tar.gz $(TRINO)/secrets-plugin && touch $@ \
	  || echo "there is no Java 24 or newer, or Trino could not be fetched" >&2

trino: $(TRINO)/plugin/iceberg/.ready ## Ask every question of a real Trino, the engine of Athena (Java 24, Maven; else it is skipped)
	@PYTHONPATH=. $(BIN)/pytest --numprocesses 0 -p tests.cli.trino.plugin $(or $(ARGS),tests/cli/trino tests/cli/snapshots/test_queries.py -k 'not (need_little_memory or line_is_that_of)')

soak: .venv/.ready ## Hash 100,000 objects on a new local emulator while its parts fail at random (ARGS="--objects 1000": fewer objects)
	@$(BIN)/python -m tests.soak $(ARGS)

tests/template/asl/node_modules/.package-lock.json: tests/template/asl/package-lock.json
	@npm --prefix tests/template/asl ci --silent --no-audit --no-fund || echo "the validators of state machines could not be fetched; their tests say so" >&2

check: .venv/.ready ## Check formatting, lint, types, the template, and the layer if `sam build` has built it
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/cfn-lint template.yaml --regions us-east-1 cn-north-1
	@SAM_CLI_TELEMETRY=0 AWS_DEFAULT_REGION=us-east-1 $(BIN)/sam validate --lint
	@for layer in .aws-sam/build/BucketsumLayer/python; do test ! -d $$layer || \
	  $(BIN)/python layers/bucketsum/build.py --check $$layer; done

product: .venv/.ready ## Check, build and test the product in a copy without the lab, which measures
	@$(BIN)/python -m tests.without_lab check 'test ARGS=tests/unit tests/template tests/cli tests/build'

bench: .venv/.ready ## Compare speed and memory with their targets (ARGS=readers: compare S3 readers)
	@$(BIN)/python -m bench $(ARGS)

events: .venv/.ready ## Regenerate the sample events in events/ with `sam local generate-event`
	@$(BIN)/python -m events.generate

reference: .venv/.ready ## Write the generated pages and tables of docs/
	@$(BIN)/python -m tools.reference
	@$(BIN)/python -m bench cost --write-docs >/dev/null

pictures: .venv/.ready ## Draw the pictures of README and docs
	@$(BIN)/python -m tools.pictures

SITE := .venv/docs

$(SITE)/.ready: .venv/.ready requirements-docs.lock
	@$(BIN)/uv venv --quiet --clear $(SITE)
	@$(BIN)/uv pip install --quiet --python $(SITE) --require-hashes --requirement requirements-docs.lock
	@touch $@

docs: $(SITE)/.ready ## Build the site of the documents in dist/docs; a dead link is an error
	@$(SITE)/bin/sphinx-build --quiet --fail-on-warning --keep-going --conf-dir docs \
	  --doctree-dir .venv/doctrees . dist/docs
	@cp dist/docs/README.html dist/docs/index.html
	@echo "dist/docs/index.html"

package: export SAM_CLI_TELEMETRY := 0
package: .venv/.ready ## Build the stack, upload it to an S3 bucket, and write dist/packaged.yaml (PACKAGE_BUCKET=name)
	@test -n "$(PACKAGE_BUCKET)" || { echo "make package needs a bucket in the Region of the stacks:" \
	  "make package PACKAGE_BUCKET=name" >&2; exit 2; }
	@mkdir -p dist
	@$(BIN)/sam build
	@$(BIN)/sam package --s3-bucket "$(PACKAGE_BUCKET)" --s3-prefix bucketsum --output-template-file dist/packaged.yaml

AUDIT := .venv/audit
LAYER_LOCK := layers/bucketsum/requirements.lock

$(AUDIT)/.ready: .venv/.ready requirements-audit.lock
	@$(BIN)/uv venv --quiet --clear $(AUDIT)
	@$(BIN)/uv pip install --quiet --python $(AUDIT) --require-hashes --requirement requirements-audit.lock
	@touch $@

sbom: $(AUDIT)/.ready ## Write the layer's packages and their hashes to dist/layer.cdx.json (CycloneDX)
	@mkdir -p dist
	@$(AUDIT)/bin/cyclonedx-py requirements --output-reproducible --output-file dist/layer.cdx.json $(LAYER_LOCK)

audit: $(AUDIT)/.ready ## Fail if a pinned package has a known vulnerability
	@for lock in $(LAYER_LOCK) requirements.lock; do \
	  $(AUDIT)/bin/pip-audit --strict --progress-spinner off --disable-pip --require-hashes --requirement $$lock || exit 1; done

# Of runtimes that may still be in use; `make proofs` tries them.
OLDER_BOTOCORES := 1.34.145 1.37.3 1.40.4

lock: .venv/.ready ## Write the lock files of the project, the layer and the audit tools (keeps versions that the requirements still allow)
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --extra local --extra report --extra sql --group dev --custom-compile-command "make lock" --output-file requirements.lock pyproject.toml
	@cd layers/bucketsum && $(BIN)/uv pip compile --quiet --no-deps --universal --python-version 3.11 --generate-hashes \
	  --no-emit-index-url --no-annotate --custom-compile-command "make lock" --output-file requirements.lock \
	  requirements.txt requirements-binary.txt
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --group audit --custom-compile-command "make lock" --output-file requirements-audit.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --group docs --custom-compile-command "make lock" --output-file requirements-docs.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.13 --generate-hashes --no-emit-index-url --no-annotate \
	  --group proofs --custom-compile-command "make lock" --output-file requirements-proofs.lock
	@for version in $(OLDER_BOTOCORES); do printf 'boto3==%s\nbotocore==%s\n' $$version $$version | \
	  $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate \
	  --custom-compile-command "make lock" --output-file tests/proofs/botocore-$$version.lock - || exit 1; done

clean: ## Stop the local emulators, and delete generated files that git ignores (not deploy.toml, snapshots, pages, runs)
	@-test -x $(BIN)/bucketsum && for home in .bucketsum .bucketsum/*/; do \
	  ! test -f "$$home/local.json" || BUCKETSUM_HOME="$$home" $(BIN)/bucketsum local down; done
	@! test -d .bucketsum || find .bucketsum -mindepth 1 -maxdepth 1 ! -name snapshots ! -name pages ! -name runs -exec rm -rf {} +
	@rmdir .bucketsum 2> /dev/null || true
	@rm -rf .venv dist tests/template/asl/node_modules .aws-sam .coverage* .hypothesis .*_cache *.egg-info hs_err_pid*.log
	@find . -name __pycache__ -prune -exec rm -rf {} +
