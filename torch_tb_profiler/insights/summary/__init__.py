"""The summary of a trace: what people, tests and programs read first."""
