"""Where sessions are kept: in files, in memory, or in a store of the user's own."""
