"""Reads formulas in NumPy's spelling."""
