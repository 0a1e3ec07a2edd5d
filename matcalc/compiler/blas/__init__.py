"""Finds, measures and chooses the library for each routine of BLAS and LAPACK."""
