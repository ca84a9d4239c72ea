"""A catalogue of sessions and their full text in SQLite: a cache beside the files, rebuilt whenever it is not right."""
