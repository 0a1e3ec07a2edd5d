"""Sparse results: the entries of a matrix that its formula allows to differ from 0, and functions that compute only these."""
