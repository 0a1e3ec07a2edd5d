"""Turns syntax trees into nodes: shapes by unification, then construction."""
