"""Checks a Program before it is printed as text: proofs for all sizes, and an interpreter at concrete sizes."""
