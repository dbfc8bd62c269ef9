"""Memory in use over time, what allocated it, and what was alive at a time."""
