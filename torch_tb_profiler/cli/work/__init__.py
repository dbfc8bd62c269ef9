"""What commands do.

Belongs here: a module per command, imported when that command runs; it reads what was asked and hands over. Does not
belong here: what a command is called and which arguments it takes (`cli/NAME.py`), any analysis.
"""
