"""The node, and labels that do not depend on the order of operands."""
