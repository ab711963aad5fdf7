"""The operating system: files, locks, paths, memory, threads, and the environment."""
