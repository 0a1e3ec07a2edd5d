"""Checks a Program before it is text: proofs for all sizes, and an interpreter at concrete sizes."""
