"""Prints a Program as Python source, with one vocabulary for each target; it makes no decisions."""
