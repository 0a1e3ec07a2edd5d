"""Recurrences: joins them to loops, chooses what a loop stores for later ones, and plans the step of each loop."""
