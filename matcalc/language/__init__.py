"""The text language: syntax tree, reading and writing. Its files know spelling but no mathematics."""
