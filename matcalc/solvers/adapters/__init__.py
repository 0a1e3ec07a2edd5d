"""Compiled functions for other libraries, each with exact derivatives."""
