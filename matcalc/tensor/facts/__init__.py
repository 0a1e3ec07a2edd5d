"""Facts and intervals of nodes, inferred when a node is made."""
