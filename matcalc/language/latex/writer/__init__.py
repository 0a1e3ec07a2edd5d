"""Writes formulas as LaTeX: names and templates filled in, recurrences, line breaks."""
