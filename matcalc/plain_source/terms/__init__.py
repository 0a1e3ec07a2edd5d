"""Terms: operations on arrays that every array language has, and their products."""
