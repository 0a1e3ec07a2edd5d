"""Kernels and elementwise functions: their sources, their machine code, and the part that a wheel ships."""
