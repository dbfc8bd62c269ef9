"""One module per question; pure functions from the model of a trace to a small typed result.

General pieces: `intervals` (the only sweep), `grouping` (the only group-by), `remember` (compute once per
model), `definitions` (what every reported number means). Questions: `overview`, `utilization`, `operators`,
`call_stacks`, `kernels`, `tensor_cores`.

What does not belong here: JSON, HTML, rounding, microseconds (all in `web`), advice (in `insights`) and what
an event means (in `model`). Times are integer nanoseconds; the fields of results carry the names of the
HTTP interface (docs/api.md).
"""
