"""Reading trace files in worker processes, which also answer what the page asks first."""
