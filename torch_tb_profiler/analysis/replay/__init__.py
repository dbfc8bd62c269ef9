"""The critical path of each step, and how long steps would take after a change: docs/replay.md.

The trace becomes a graph of the points where threads and streams meet (`graph`), whose edges carry how much later their
target comes. Solving it unchanged gives every recorded time again; solving it with shorter times says what they would
save.
"""
