"""Derivatives of nodes: one walk for pullbacks and pushforwards, solutions of equations, the conventions of shape."""
