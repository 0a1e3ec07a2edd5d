"""Reads loops over a symbolic number of steps in a user's function: their bodies are steps of recurrences."""
