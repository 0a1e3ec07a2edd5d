"""The user's handle on a node: reading what was given, operators, forms, printing."""
