"""Values and pure rules, on the standard library alone: no I/O, nothing of any front end, store or provider."""
