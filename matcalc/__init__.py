"""matcalc: a symbolic matrix-calculus compiler."""
