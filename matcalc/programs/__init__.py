"""Programs judged: what is known of their indices, and what follows for every access."""
