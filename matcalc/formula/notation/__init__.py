"""From nodes back to what a mathematician writes."""
