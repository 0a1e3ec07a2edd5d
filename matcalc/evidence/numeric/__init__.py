"""Numeric tests of rules: samples, differences, and the properties that a rule must satisfy."""
