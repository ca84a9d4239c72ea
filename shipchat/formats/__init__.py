"""The JSON forms of sessions, drafts and summaries; which files hold them is for `stores` to know."""
