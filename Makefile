# Everything runs in a virtual environment of its own: made on first use, or any that is active.
PY ?= $(if $(VIRTUAL_ENV),$(VIRTUAL_ENV)/bin/python,.venv-dev/bin/python)

.PHONY: check format lint types imports test bench torture picture

check: lint types imports test

.venv-dev/bin/python:
	python3 -m venv .venv-dev
	.venv-dev/bin/python -m pip install --quiet --editable '.[local,dev]'

format: $(PY)
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

lint: $(PY)
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .

types: $(PY)
	$(PY) -m mypy

imports: $(PY)
	$(dir $(PY))lint-imports

test: $(PY)
	$(PY) -m pytest -n auto

# Figures, as a table and as JSON (bench-results.json).
bench: $(PY)
	$(PY) -m tests.bench

# The long form of what tests prove in small: kills, faults, races. Says which tools it missed.
torture: $(PY)
	$(PY) -m tests.torture

# What the screen looks like, as README shows it.
picture: $(PY)
	$(PY) -m tests.picture picture.svg
