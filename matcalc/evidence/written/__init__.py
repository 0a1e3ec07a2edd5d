"""The value of a formula as it was written, and results compared with it."""
