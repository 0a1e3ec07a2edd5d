"""Evaluates formulas as they were written, and compares results with these values."""
