"""Beyond memory: what separates over rows, and its evaluation by blocks of them."""
