"""Formulas over data by rows: which separate, their totals by blocks, and what suffices of the rows."""
