"""A Program as Python source: one target a vocabulary, no decision left to make."""
