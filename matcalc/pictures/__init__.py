"""Pictures as SVG and as text: graphs in layers, and plots of numbers. They are independent of mathematics."""
