"""Requests for compiled functions, and the functions built from them."""
