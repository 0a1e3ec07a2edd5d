"""Programs that read large matrices in blocks of rows."""
