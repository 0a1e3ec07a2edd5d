"""Definitions in passages of LaTeX: names, entries and functions that one line defines and others use."""
