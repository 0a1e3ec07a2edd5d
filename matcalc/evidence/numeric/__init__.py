"""Numeric tests of rules: samples, differences, and what a rule must satisfy."""
