"""Array algebra: orders, different values, look-ups, intervals, nesting, groups, forests, sums over ranges.

Belongs here: functions of arrays that hold for any data. Does not belong here: anything that knows what the numbers
stand for. Each function has a worked example, and is compared with a brute-force version in tests/unit.

    order        sorting integers, and the inverse of a permutation
    distinct     different values, and runs of equal ones
    lookup       values by an index that may say "none", by value, by window
    grouping     rows by equal keys: sums, extremes, the first of each
    pieces       rows by group with little memory
    range_sums   sums over many ranges of one sequence
    intervals    sets of points as intervals, and functions of a point
    nesting      which interval lies in which, and walks from a node to its ancestors
    preorder     the order of a walk over a forest
    forest       sums over everything below a node

A forest is an array `parent`: the position of each node's parent, -1 for a root.
"""
