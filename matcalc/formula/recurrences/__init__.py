"""Reads systems of equations with a step index: their shapes, then their nodes."""
