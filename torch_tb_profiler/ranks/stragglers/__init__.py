"""Ranks that are late: which ones, why, and what a step would be without them."""
