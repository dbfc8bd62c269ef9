"""What each operator cost."""
