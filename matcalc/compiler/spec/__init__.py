"""Defines a compiled function: its specification, the text of its module, the shapes of its results."""
