"""The values of a program, their cost, and the order of their axes."""
