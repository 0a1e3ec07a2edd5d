"""Symbolic sizes: polynomials in lengths, their equations, and 0/1 tensors defined on indices."""
