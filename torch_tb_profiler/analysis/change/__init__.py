"""What changed between recordings of one program: how sure it is, and what it is made of.

Belongs here: the figures of a recording, the shift between two sides with its interval, verdicts. Does not belong here:
what a figure is (`waterfall`, `kernels`, `operators`, `run_metrics` define them), files, texts of a command.
"""
