"""Runs the user's functions on symbols: their calls of NumPy, SciPy and Python find functions that accept symbols."""
