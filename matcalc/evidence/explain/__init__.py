"""A derivative step by step, each with the rule that gives it, and the reasons of facts."""
