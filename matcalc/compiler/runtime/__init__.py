"""Generated modules as living functions: loading, caching, calling."""
