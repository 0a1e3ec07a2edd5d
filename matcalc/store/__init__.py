"""Data that outlive a process: the cache folder, its files, and the digest of the installation in their keys."""
