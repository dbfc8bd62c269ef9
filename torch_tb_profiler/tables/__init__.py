"""The tables of a trace, listed once for commands and for agents."""
