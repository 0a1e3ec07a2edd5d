"""Defines forms, the parts of a formula with their costs, and reduces the network of a product to a form."""
