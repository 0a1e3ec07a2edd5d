"""Formulas of sparse matrices, rewritten to operations on stored entries."""
