"""Finds the entries of a matrix that can differ from 0 by its formula, and compiles functions of only these."""
