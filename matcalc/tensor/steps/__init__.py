"""The steps of recurrences: nodes in normal form, one step of a tensor, and lookups inside a step."""
