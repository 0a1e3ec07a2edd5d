"""The graph of a formula as a picture."""
