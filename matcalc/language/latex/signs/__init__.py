"""Macros and signs of papers, which are replaced in the text before its layout is read."""
