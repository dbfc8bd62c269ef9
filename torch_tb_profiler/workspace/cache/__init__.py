"""The cache on disk: what is kept of each trace, what it is called, who may share it, and when it goes."""
