"""Slash commands: a table of small functions shared by the interactive front ends."""
