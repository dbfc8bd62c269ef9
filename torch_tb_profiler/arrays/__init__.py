"""Array algebra: orders, different values, intervals, nesting, groups, forests, sums over ranges.

Belongs here: functions of arrays that hold for any data. Does not belong here: anything that knows events, traces or
profiles. Each function has a worked example and is compared with a brute-force version in tests/unit.
"""
