"""The order in which products are multiplied, and their kernels."""
