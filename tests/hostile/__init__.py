"""Hostile text in every public text parameter: nothing of it runs, and what is accepted is right."""
