"""The public functions, and the requests that they make."""
