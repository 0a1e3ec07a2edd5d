"""LaTeX: written from a syntax tree, and read as a tree of layouts, then by meaning."""
