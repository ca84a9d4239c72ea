"""Widgets: they know values, are told by attributes and methods, and tell by messages."""
