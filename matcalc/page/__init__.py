"""The local page of `matcalc serve`: a formula, its derivative, the derivation, and code."""
