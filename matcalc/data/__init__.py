"""The demo's data: tables with their source and licence beside them. No code."""
