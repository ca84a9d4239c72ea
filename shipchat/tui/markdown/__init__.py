"""Markdown as rows of a terminal: split while it is being written (`blocks`), drawn block by block (`render`).

Knows neither widgets nor messages. Values in, `textual.strip.Strip` out.
"""
