"""Kernels and elementwise functions: their sources, their machine code, and what a wheel ships of it."""
