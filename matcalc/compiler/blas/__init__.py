"""The library for each routine of BLAS and LAPACK: found, measured, chosen."""
