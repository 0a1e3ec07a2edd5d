"""Shorter forms of the same value: patterns, rewrites, factoring, distribution, and the driver that chooses."""
