"""Trace health: what a user should know before trusting the numbers of one trace. docs/health.md has every note.

One module per subject, one function per rule, listed in a tuple at the end of its module. A rule that fires on a
healthy trace is a mistake: warnings and errors need evidence in the trace itself.
"""
