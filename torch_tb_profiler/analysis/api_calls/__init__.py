"""Calls of the device's API: by what they are called and who called them."""
