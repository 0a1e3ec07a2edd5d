"""Pictures: the graph of a formula and charts of numbers, as SVG and as text."""
