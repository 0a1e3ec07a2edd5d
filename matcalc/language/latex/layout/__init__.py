"""Layouts of LaTeX: its grammar, its names, and the looks of operations."""
