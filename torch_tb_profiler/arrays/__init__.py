"""Array algebra: sorting, distinct values, look-ups, intervals, nesting, groups, forests, sums over ranges.

Belongs here: functions of arrays that hold for any data. Does not belong here: anything that knows what the numbers
mean. Every function has a worked example, and is compared with a brute-force version in tests/unit.

    types        array types by element
    order        sorting integers, inverse permutations, medians and percentiles
    distinct     distinct values and runs of equal ones
    lookup       values by an index that may say "none", by value, by window
    grouping     rows by equal keys: sums, extremes, first rows
    ranges       sums and minima over many ranges of one sequence
    intervals    sets of points as intervals, priorities among intervals, functions of a point
    lane_index   times on many lanes, searched at once
    nesting      which interval lies in which, and walks from a node to its ancestors
    forest       sums over subtrees, preorder, merging of equal paths
    rollup       paths up to the root as texts: order, common prefixes, rolling hashes
    sequences    repetition in a sequence, alignment of two
    apportion    whole numbers in proportion to weights
    json         JSON of values that contain NumPy numbers

A forest is an array `parent`: the position of each node's parent, -1 for a root.
"""
