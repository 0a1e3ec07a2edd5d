"""Formulas over data by rows: whether they separate, totals over blocks of rows, sufficient statistics."""
