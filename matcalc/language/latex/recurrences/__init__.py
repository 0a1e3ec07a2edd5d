"""Recurrences of passages in LaTeX: their equations, ranges and starts, and the first subscripts of sequences."""
