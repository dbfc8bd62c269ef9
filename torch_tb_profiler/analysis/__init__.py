"""One question, one file or folder: pure functions from the model of a trace to a small typed result.

What questions are made with is not a question: `cached` (computed once per model), `result` (tables, whose columns are
declared once), `question`, `answer` and `tabular` (what can be asked, the types of answers, answers as data frames),
and `shared`. There stand the definition of every quantity of devices and communication and
when each role ran (`device_roles`), who started each piece of device work (`owners`), whether kernels use tensor cores
(`tensor_cores`), what each call of an operator took and the program tree with its times (`operator_times`), spread per
group (`distribution`). Algebra of arrays that knows nothing of traces is in `arrays`.

A question asks its model for what is selected (`Model.rows_of`, `Model.tree`, `Model.device_work` and so on), never the
trace for all events, so that it can be asked about some of the steps.

Does not belong here: JSON, HTML, rounding, microseconds (all in `web`), advice (in `insights`) and the meaning of an
event (in `model`). Times are integer nanoseconds; the fields of results carry the names of the HTTP interface
(docs/api.md).
"""
