"""Passages of papers in LaTeX: their macros, their lines, and the formula among them."""
