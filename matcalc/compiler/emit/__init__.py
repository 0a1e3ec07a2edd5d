"""Prints a Program as Python source, with one vocabulary for each target and no decision left to make."""
