"""`matcalc serve`: a local page that shows a formula, its derivative, why it is so, and its code."""
