"""Hostile text in every public text parameter: none of it runs, and accepted text gives correct results."""
