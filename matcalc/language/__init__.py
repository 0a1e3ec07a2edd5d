"""The text language: syntax tree, reading and writing. It knows spelling but no mathematics."""
