"""Which operations of the ranks are the same one. docs/ranks.md has the rules in words.

`join` takes rank after rank and decides by numbers where it can; `match` compares what is left, all ranks at once.
"""
