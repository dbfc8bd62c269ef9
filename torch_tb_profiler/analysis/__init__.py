"""One module per question; pure functions from the model of a trace to a small typed result.

General pieces, in three groups. Time: `intervals` (the only sweep), `roles` (compute, communication, copy),
`device_time` (a device's time shared out by role). Structure: `forest` (sums over trees), `program` (the program tree
with its times), `alignment` (which entries of two sequences belong together), `launchers` (who started each piece of
device work), `operator_calls` (every call of an operator), `call_stacks` (Python frames around operators). Tables:
`grouping` (the only group-by), `range_sums` (running sums, and sums by key over many ranges), `distribution` (spread
per group), `tabular` (results as data frames). Besides, `remember` (compute once per model) and `definitions` (what
every reported number means). Every other module is a question; `diff_whole` and `diff_sides` belong to that of `diff`.

What does not belong here: JSON, HTML, rounding, microseconds (all in `web`), advice (in `insights`) and what
an event means (in `model`). Times are integer nanoseconds; the fields of results carry the names of the
HTTP interface (docs/api.md).
"""
