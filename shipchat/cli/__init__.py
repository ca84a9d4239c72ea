"""The commands: parse, bootstrap, call, print. What they call lives elsewhere."""
