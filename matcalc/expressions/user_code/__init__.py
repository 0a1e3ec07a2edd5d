"""Runs the user's functions on symbols: calls of NumPy, SciPy and Python reach functions that accept symbols."""
