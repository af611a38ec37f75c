# Everything runs from a clean clone with Python 3.11 to 3.14 and a package index that pip knows.
# Recipes end in `exec`, so that a signal to make's child is a signal to Python itself.

.PHONY: help install demo test soak bench lint clean
.DEFAULT_GOAL := help

PYTHON := .venv/bin/python
export DEMO_DIR ?= demo-data

help:
	@echo "make demo          start everything, run sample exports, serve the console until Ctrl-C"
	@echo "make demo ONCE=1   the same, but end after the table of what happened"
	@echo "make test          the test suite, against servers it starts itself (ARGS=… for pytest)"
	@echo "make soak          the long products of faults, servers and crash points"
	@echo "make bench         speed, each figure beside its target (PART=… for some parts, ARGS=… for more)"
	@echo "make lint          formatter, linter, types, import contracts, migrations, deployment checks"
	@echo "make install       create or refresh .venv for all of these"
	@echo "make clean         delete .venv, caches and the demo's data"

# The sets of packages, each remembered by a file in .venv that is as new as its installation.
.venv/.has-demo: requirements/base.txt requirements/demo.txt requirements/install.sh
	@sh requirements/install.sh base demo
	@touch $@

.venv/.has-test: .venv/.has-demo requirements/test.txt
	@sh requirements/install.sh test
	@touch $@

.venv/.has-bench: .venv/.has-test requirements/bench.txt
	@sh requirements/install.sh bench
	@touch $@

# A .venv whose Python is gone (another machine, a removed version) is made again.
ifneq ($(shell $(PYTHON) -c "print(1)" 2>/dev/null),1)
.PHONY: broken
.venv/.has-demo: broken
endif

install: .venv/.has-test

demo: .venv/.has-demo
	@exec $(PYTHON) manage.py demo "$$DEMO_DIR" $(if $(filter-out 0,$(ONCE)),--once)

# Two processes, each with servers of its own; the tests of one file stay together.
test: .venv/.has-test
	@exec $(PYTHON) -m pytest $(or $(ARGS),-n 2 --dist loadfile)

# The full product of faults, servers and crash points: an hour and more.
soak: .venv/.has-test
	@exec $(PYTHON) -m pytest -m soak $(ARGS)

# Servers and data sets stay in bench-data; results go to bench-results.
bench: .venv/.has-bench
	@exec $(PYTHON) -m tests.bench $(PART) $(ARGS)

lint: .venv/.has-test
	@exec $(PYTHON) -m config.devstack.lint

clean:
	@if [ -d "$$DEMO_DIR" ]; then exec $(PYTHON) -m config.devstack.delete "$$DEMO_DIR"; fi
	@if [ -d bench-data ]; then exec $(PYTHON) -m config.devstack.delete bench-data; fi
	@rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis staticfiles test-artifacts bench-results
	@find config exports reconciliation tests -name __pycache__ -prune -exec rm -rf {} +
