"""What several commands need, or what one of them says at length; imported only when a command runs.

Belongs here: which traces are meant, files that are written, tables and answers as text. Does not belong here: what a
command is called, its arguments and what it does (`cli/NAME.py`), any analysis.
"""
