"""Derivations step by step, with the rule of each step, and the reasons of facts."""
