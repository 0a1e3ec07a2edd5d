"""Plans a Program from nodes, verifies it for all sizes, emits it as text, and loads it."""
