"""From a syntax tree to nodes: shapes by unification, then construction."""
