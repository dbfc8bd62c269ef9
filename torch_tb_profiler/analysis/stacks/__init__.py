"""Time by call stack."""
