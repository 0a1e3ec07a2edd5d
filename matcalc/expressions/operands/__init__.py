"""Formulas as operands of NumPy's functions: handles of nodes, comparisons, and the references of their results."""
