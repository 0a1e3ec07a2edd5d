"""Writes functions to files: saved Python, C, PyTorch and JAX, each with its own test."""
