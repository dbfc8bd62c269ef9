"""The longest events."""
