"""Implements NumPy's functions on nodes, and dispatches NumPy's calls to them."""
