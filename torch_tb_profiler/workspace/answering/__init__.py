"""Answering questions about traces: what is open in memory, here or in the process for large traces."""
