"""The full-screen front end, on Textual: its parts are handed services and told events."""
