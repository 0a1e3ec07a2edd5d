"""Kinds and sizes of a syntax tree, by unification."""
