"""The version, in one place: hatchling reads it when building, `--version` prints it."""

__version__ = "0.1.0"
