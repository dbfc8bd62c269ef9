"""Which operations of the ranks are the same one. docs/ranks.md has the rules in words.

`numbering` takes rank after rank and decides by numbers where it can; `match` compares the rest, all ranks at once.
"""
