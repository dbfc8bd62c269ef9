"""Columns of the tables about what the program did."""

from __future__ import annotations

from torch_tb_profiler.analysis.definition import Definition, by_key

SHORT = "The name without parameters and most template arguments, as in the GPU Kernel view."

MICRO_BATCHES = by_key(
    "micro_batches",
    Definition("step", "Step", "number", None, "Index into the steps."),
    Definition("number", "Pass", "number", None, "Which backward pass of its step, from 0."),
    Definition("start_ns", "Backward begins", "number", "ns", "When its first autograd node began."),
    Definition("data_ns", "Data", "number", "ns", "Time of the main thread in data since the previous pass."),
    Definition("forward_ns", "Forward", "number", "ns", "Time of the main thread in forward and loss since then."),
    Definition("backward_ns", "Backward", "number", "ns", "Time of the main thread in backward, with recomputation."),
    Definition(
        "forward_device_ns",
        "Forward on devices",
        "number",
        "ns",
        "Σ durations of device work that forward and loss launched.",
    ),
    Definition(
        "backward_device_ns",
        "Backward on devices",
        "number",
        "ns",
        "Σ durations of device work that backward launched.",
    ),
    Definition(
        "synchronises", "Joins gradients", "bool", None, "Whether gradients are joined over ranks in this pass."
    ),
)

OPTIMIZERS = by_key(
    "optimizers",
    Definition(
        "name", "Optimizer", "string", None, "Class, with a number if a class has several optimizers in a step."
    ),
    Definition("calls", "Calls", "number", "count", "Calls of step() in the steps."),
    Definition("host_ns", "Host", "number", "ns", "Σ durations of the calls."),
    Definition("device_ns", "Device", "number", "ns", "Σ durations of device work launched in them."),
)

RANGES = by_key(
    "ranges",
    Definition("id", "Id", "number", None, "Number of the entry in the tree."),
    Definition("parent", "Inside", "number", None, "The entry around it; -1 at the top."),
    Definition("name", "Range", "string", None, "Name; digits, addresses and keys that differ are shown as …."),
    Definition("writer", "Written by", "string", None, "What writes ranges of this name; user if it is not known."),
    Definition("names", "Names", "number", "count", "How many different names the entry stands for."),
    Definition("calls", "Calls", "number", "count", "How often it began in the steps."),
    Definition("host_total_ns", "Host", "number", "ns", "Σ durations; what overlaps counts each time."),
    Definition("host_self_ns", "Host, self", "number", "ns", "The same without ranges directly inside."),
    Definition(
        "device_ns",
        "Device",
        "number",
        "ns",
        "Σ durations of device work launched inside, on its thread or by a backward pass that it called; empty where "
        "it is not known who called one.",
    ),
    Definition(
        "exposed_ns",
        "Exposed",
        "number",
        "ns",
        "Time of the steps in which its device work is the running work that was launched first, or in which no "
        "device works while it runs on the main thread.",
    ),
    Definition("mean_ns", "Mean", "number", "ns", "Mean duration on the host."),
    Definition("min_ns", "Shortest", "number", "ns", "Shortest duration."),
    Definition("median_ns", "Median", "number", "ns", "Median duration."),
    Definition("p99_ns", "99 %", "number", "ns", "Duration that 99 % of the calls do not exceed."),
    Definition("max_ns", "Longest", "number", "ns", "Longest duration."),
    Definition(
        "between_ns", "Between", "number", "ns", "Median time from the end of a call to the next on the same thread."
    ),
    Definition("per_step", "Per step", "number", "count", "Calls divided by steps."),
    Definition("longest_row", "Longest call", "number", None, "Event of the longest call."),
    Definition("longest_start_ns", "Longest begins", "number", "ns", "When the longest call began."),
)

CALLS_OF_RANGE = by_key(
    "range_calls",
    Definition("row", "Event", "number", None, "Number of the event in its file."),
    Definition("name", "Name", "string", None, "The name as it was written."),
    Definition("step", "Step", "string", None, "The step that it began in."),
    Definition("start_ns", "Begins", "number", "ns", "Since the start of the trace."),
    Definition("duration_ns", "Duration", "number", "ns", "On the host."),
    Definition(
        "device_ns",
        "Device",
        "number",
        "ns",
        "Σ durations of device work launched inside, on its thread or by a backward pass that it called; empty where "
        "it is not known who called one.",
    ),
    Definition(
        "between_ns", "Since the previous one", "number", "ns", "From the end of the previous call on the same thread."
    ),
)

ENGINE_STEPS = by_key(
    "engine_steps",
    Definition("phase", "Phase", "string", None, "What kind of step it is."),
    Definition("row", "Event", "number", None, "Number of its event in the file."),
    Definition("start_ns", "Begins", "number", "ns", "Since the start of the trace."),
    Definition("host_ns", "Host", "number", "ns", "Its duration on the host."),
    Definition("period_ns", "To the next", "number", "ns", "From its beginning to the beginning of the next step."),
    Definition("gap_ns", "Gap", "number", "ns", "From its end on the host to the beginning of the next step."),
    Definition("device_ns", "Device", "number", "ns", "Σ durations of device work that was launched in it."),
    Definition("graph_ns", "In graphs", "number", "ns", "The part of that which replays of graphs ran."),
    Definition(
        "device_gap_ns", "Device gap", "number", "ns", "From the end of its last device work to the first of the next."
    ),
    Definition("requests", "Requests", "number", "count", "Requests of the step."),
    Definition("generation", "Generating", "number", "count", "Requests that generate."),
    Definition("tokens", "Tokens", "number", "count", "New tokens that the step computes."),
    Definition("context_tokens", "Prompt tokens", "number", "count", "Those of prompts."),
    Definition("padded", "Room", "number", "count", "Requests that the captured graph has room for."),
)

REGIONS = by_key(
    "regions",
    Definition("id", "Code", "string", None, "Frame / code: a code above 0 is the frame compiled again."),
    Definition("calls", "Calls", "number", "count", "Calls of the compiled code."),
    Definition("outer_calls", "Outermost", "number", "count", "Those that are in no other compiled code."),
    Definition("host_ns", "Host", "number", "ns", "Σ durations of the calls, with compiled code inside them."),
    Definition("overhead_ns", "Around graphs", "number", "ns", "In the bytecode and the wrapper before the graph."),
    Definition("body_ns", "Graph", "number", "ns", "In the bodies of its graphs."),
    Definition("eager_ns", "Eager inside", "number", "ns", "In operators that are in the region and in no graph."),
    Definition("device_ns", "Device", "number", "ns", "Σ durations of device work launched in it, not deeper."),
    Definition("row", "First call", "number", None, "Event of its first call."),
)

EAGER = by_key(
    "eager",
    Definition("name", "Operator", "string", None, "Outermost operator; empty for work that no operator launched."),
    Definition("calls", "Calls", "number", "count", "Calls outside compiled code in the steps."),
    Definition("host_ns", "Host", "number", "ns", "Σ durations of these."),
    Definition("device_ns", "Device", "number", "ns", "Σ durations of device work launched in them."),
    Definition("row", "Longest call", "number", None, "Event of the longest of these on the host."),
)

COMPILATIONS = by_key(
    "compilations",
    Definition("id", "Code", "string", None, "Frame / code that is compiled; empty if torch does not record it."),
    Definition("start_ns", "Begins", "number", "ns", "Since the start of the trace."),
    Definition("duration_ns", "Duration", "number", "ns", "On the host."),
    Definition("again", "Again", "bool", None, "Whether the frame had been compiled before, for other inputs."),
    Definition("row", "Event", "number", None, "Number of its event in the file."),
)

GENERATED = by_key(
    "generated",
    Definition("name", "Kernel", "string", None, "Name of the kernel."),
    Definition("backend", "Language", "string", None, "triton or cpp."),
    Definition("kind", "Kind", "string", None, "Kind of Triton kernel; empty if the name does not show it."),
    Definition("operators", "Fused operators", "string", None, "The operators in its name, joined by _."),
    Definition("calls", "Calls", "number", "count", "How often it ran in the steps."),
    Definition("total_ns", "Total", "number", "ns", "Σ durations."),
    Definition("config", "Configuration", "string", None, "Blocks, warps and stages of a Triton kernel."),
    Definition("file", "File", "string", None, "File that Inductor wrote, if it was recorded."),
    Definition("row", "First call", "number", None, "Event of its first run."),
)

GRAPHS = by_key(
    "graphs",
    Definition("graph", "Graph", "number", None, "Number of the graph: replays that run the same nodes in order."),
    Definition("replays", "Replays", "number", "count", "How often it was replayed in the steps."),
    Definition("nodes", "Nodes", "number", "count", "Kernels, copies and fills of one replay."),
    Definition("device_ns", "Device", "number", "ns", "Σ durations of all nodes that ran."),
    Definition("span_ns", "Replay", "number", "ns", "Mean time from the first node to the end of the last."),
    Definition("inside_ns", "Gaps inside", "number", "ns", "Mean time of a replay in which none of its nodes runs."),
    Definition(
        "between_ns", "To the next", "number", "ns", "Σ from its end to the next replay of any graph on the device."
    ),
    Definition("row", "Launch", "number", None, "Event of the call that launched its first replay."),
    Definition("start_ns", "Begins", "number", "ns", "When its first replay began on the device."),
)

GRAPH_NODES = by_key(
    "graph_nodes",
    Definition("position", "Node", "number", None, "Its place in the graph."),
    Definition("name", "Kernel", "string", None, "Name of the kernel, copy or fill."),
    Definition("short_name", "Short name", "string", None, SHORT),
    Definition("mean_ns", "Mean", "number", "ns", "Mean duration over the replays."),
    Definition("spread", "Spread", "number", "fraction", "Standard deviation ÷ mean over the replays."),
    Definition("share", "Share", "number", "fraction", "Part of the time of all nodes."),
    Definition("owner", "Belongs to", "string", None, "Operator of its capture, otherwise what replayed it."),
    Definition("row", "First run", "number", None, "Event of its first run."),
)

GRAPH_GAPS = by_key(
    "graph_gaps",
    Definition("where", "Where", "string", None, "inside a replay, or between one and the next on the device."),
    Definition("graph", "Graph", "number", None, "Number of the graph that the gap is in, or after."),
    Definition("duration_ns", "Gap", "number", "ns", "Time in which no node of the replay runs, or of any replay."),
    Definition("after", "After", "string", None, "The node that ends where the gap begins."),
    Definition("before", "Before", "string", None, "The node that begins where the gap ends."),
    Definition("short_after", "After, short", "string", None, SHORT),
    Definition("short_before", "Before, short", "string", None, SHORT),
    Definition("start_ns", "Begins", "number", "ns", "Since the start of the trace."),
    Definition("row", "Node", "number", None, "Event of the node that begins where the gap ends."),
)

OUTSIDE_GRAPHS = by_key(
    "outside_graphs",
    Definition("name", "Work", "string", None, "Name of the kernel, copy or fill."),
    Definition("short_name", "Short name", "string", None, SHORT),
    Definition("owner", "Belongs to", "string", None, "Operator that launched most of it; empty if unknown."),
    Definition("calls", "Calls", "number", "count", "How often it ran in the steps outside replays."),
    Definition("total_ns", "Total", "number", "ns", "Σ durations of these."),
    Definition("replayed", "In replays", "number", "count", "How often work of the same name ran in replays."),
    Definition("row", "First run", "number", None, "Event of the first of these."),
)

CAPTURES = by_key(
    "captures",
    Definition("name", "Captured in", "string", None, "The range around the capture."),
    Definition("calls", "Calls", "number", "count", "Calls that became nodes of the graph."),
    Definition("start_ns", "Begins", "number", "ns", "When the first of these was made."),
    Definition("row", "First call", "number", None, "Event of that."),
)
