"""Sessions as files of other kinds, for other programs and other machines, and back."""
