"""The public functions on formulas: derivatives, compiled code, checks and proofs."""
