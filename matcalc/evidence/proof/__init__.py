"""Verdicts that hold for all data: equality, domains, convexity."""
