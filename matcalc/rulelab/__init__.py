"""Numerical tests of rules and rewrites, which also run when a rule is added."""
