"""Memory in use over time, what allocated it, and what was in use at a time."""
