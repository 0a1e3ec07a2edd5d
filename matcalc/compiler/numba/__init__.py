"""Everything that uses private members of Numba and llvmlite, and functions for the user's own `@njit` code."""
