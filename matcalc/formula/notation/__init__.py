"""Turns nodes back into the formulas that a mathematician writes."""
