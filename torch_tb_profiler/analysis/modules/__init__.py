"""Time by module."""
