"""Which traces a log directory holds, and how far each one has been read."""
