"""Formulas: from a syntax tree to nodes, and from nodes back to what a mathematician writes."""
