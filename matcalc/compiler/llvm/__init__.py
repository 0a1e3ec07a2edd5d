"""Source text as LLVM assembly, without Numba, and the object code that a second process loads."""
