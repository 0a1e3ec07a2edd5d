"""What NumPy's functions mean on nodes: the functions of its names, and the way from a call of NumPy to them."""
