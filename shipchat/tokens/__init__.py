"""Counting tokens with the o200k encoding, offline; how counts are scaled to a model is decided elsewhere."""
