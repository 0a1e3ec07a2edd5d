"""From nodes to running code: a Program is planned, verified for all sizes, emitted as text, and loaded."""
