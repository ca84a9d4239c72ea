"""Screens and dialogs: they wire widgets to what acts, and decide nothing themselves."""
