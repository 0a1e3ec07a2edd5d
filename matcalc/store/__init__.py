"""What outlives a process: the folder of the cache, its files, and what is installed, which is in their keys."""
