"""Provides the user's handle on a node: reading input, operators, forms, printing."""
