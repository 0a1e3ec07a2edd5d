"""What solvers want of a formula: flat vectors in, values and derivatives out."""
