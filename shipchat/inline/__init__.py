"""The inline front end: a conversation in the terminal's own scrollback, line by line, without a full screen."""
