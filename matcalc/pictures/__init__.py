"""Pictures, as SVG and as text: places of a graph in layers, plots of numbers. They know no mathematics."""
