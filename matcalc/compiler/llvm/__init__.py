"""Compiles source text by LLVM alone, without Numba, and caches the object code for other processes."""
