"""Profiles in notebooks (docs/notebooks.md): cards, the page of a profile in a frame, live or as one file.

Belongs here: what notebooks show, and a server that ends with the kernel. Does not belong here: any number; IPython,
which is not needed.
"""
