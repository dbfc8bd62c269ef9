"""One module per question; pure functions from the model of a trace to a small typed result.

General pieces: `intervals` (the only sweep), `grouping` (the only group-by), `distribution` (spread per group),
`roles` (compute, communication, copy), `remember` (compute once per model), `tabular` (results as data frames),
`definitions` (what every reported number means). Every other module is a question.

What does not belong here: JSON, HTML, rounding, microseconds (all in `web`), advice (in `insights`) and what
an event means (in `model`). Times are integer nanoseconds; the fields of results carry the names of the
HTTP interface (docs/api.md).
"""
