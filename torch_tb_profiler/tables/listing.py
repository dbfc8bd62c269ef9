"""Every table that commands print and agents ask for, an entry each. It loads nothing: the help of commands needs it.

`columns.py` has what the columns mean, `results.py` what makes the tables that are no answers to questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class TableOption(NamedTuple):
    """An option that a table has of its own.

    values  what it may be; empty for any text
    """

    name: str
    values: Sequence[str]
    help: str


class CommandOptions(NamedTuple):
    """What a command says of a table.

    help     what it lists, in a line; "" where no command prints it
    shown    keys of the columns that are shown as text, with spaces between them; with --columns others
    options  of its own, beside --group-by
    sort     its order, unless --sort says another; "" for that in which it is made
    view     whose notes are told with it; None for all notes
    of_run   it is about all traces of a run, or of all runs, not about one
    """

    help: str = ""
    shown: str = ""
    options: Sequence[TableOption] = ()
    sort: str = ""
    view: str | None = None
    of_run: bool = False


class AgentOptions(NamedTuple):
    """What agents are told of a table.

    row  what a row is, in few words: they are in every list of tools
    own  options of the table, where agents have others than its defaults
    """

    row: str
    own: Mapping[str, str] = {}


class ListedTable(NamedTuple):
    """A table.

    name      of the command, and of the table for agents
    question  whose answer it is, by its name in `questions.py`; "" where `results.py` makes it
    groups    how it can be grouped, the usual first
    command   how it is printed
    agents    None if agents cannot ask for it
    """

    name: str
    question: str = ""
    groups: Sequence[str] = ()
    command: CommandOptions = CommandOptions()
    agents: AgentOptions | None = None

    @property
    def options(self) -> Sequence[TableOption]:
        """Of its command."""
        if not self.groups:
            return self.command.options
        return [
            TableOption("group_by", self.groups, f"what makes a row (default: {self.groups[0]})"),
            *self.command.options,
        ]


_DEVICE = TableOption("device", (), "of this device, as the table names it (default: the first)")

#: of the longest events, these are looked at for an agent
_MOST_EVENTS = 10_000

_ALL = (
    ListedTable(
        "steps",
        command=CommandOptions(
            "List the steps of a trace and where the time of each went.",
            "step kind kernel memcpy memset communication runtime dataloader cpu_exec other name",
            view="overview",
        ),
        agents=AgentOptions("a step"),
    ),
    ListedTable(
        "operators",
        "operators",
        ("name", "name_shape", "name_stack"),
        CommandOptions(
            "List the operators of a trace: calls, time on the host and on devices.",
            "calls device_self_ns device_self_share device_total_ns host_self_ns host_total_ns name input_shape",
            sort="-device_self_ns,-host_self_ns",
        ),
        AgentOptions("an operator"),
    ),
    ListedTable(
        "kernels",
        "kernels",
        ("name", "name_op_launch"),
        CommandOptions(
            "List the kernels of a trace: calls, time, use of tensor cores.",
            "calls total_ns total_share mean_ns max_ns tensor_cores_used kind short_name operator",
            sort="-total_ns",
        ),
        AgentOptions("a kernel"),
    ),
    ListedTable(
        "roofline",
        "roofline",
        ("operator", "operator_shape", "kernel", "module", "line", "element", "phase"),
        CommandOptions(
            "List operators with their time and the least time that their device needs for them.",
            "calls time_ns roof_ns lost_ns roof_share bound name input_shape",
            sort="-lost_ns",
        ),
        AgentOptions("time compared with the minimum that the device needs"),
    ),
    ListedTable(
        "modules",
        command=CommandOptions(
            "List the modules of a model: calls, time of forward and backward.",
            "calls host_total_ns host_self_ns device_total_ns device_self_ns backward_device_ns name",
            [TableOption("source", ("nn", "lightning"), "who named the modules (default: the first that did)")],
            view="modules",
        ),
        agents=AgentOptions("a module of the model"),
    ),
    ListedTable(
        "hooks",
        command=CommandOptions(
            "List Lightning's hooks: calls and time.",
            "calls host_total_ns host_self_ns max_ns min_ns name",
            view="modules",
        ),
    ),
    ListedTable(
        "stacks",
        command=CommandOptions(
            "List call stacks, with the time that each took.",
            "total_ns self_ns calls kind name",
            [
                TableOption("weight", ("device", "host"), "whose time (default: that of devices where there are any)"),
                TableOption("direction", ("top_down", "bottom_up"), "from callers to called, or the other way"),
                TableOption(
                    "files", (), "only frames of files with one of these words in their names, none of those after a -"
                ),
            ],
            sort="-self_ns",
            view="stacks",
        ),
        agents=AgentOptions("a Python frame with who called it, by own time", {"direction": "bottom_up"}),
    ),
    ListedTable(
        "ranges",
        "ranges",
        command=CommandOptions(
            "List the annotations of a program, and the ranges that frameworks name.",
            "calls host_total_ns host_self_ns device_ns exposed_ns median_ns writer name",
        ),
        agents=AgentOptions("a range that the program named"),
    ),
    ListedTable(
        "idle",
        groups=("device", "stream"),
        command=CommandOptions(
            "Add up the idle time of devices, by cause.",
            "device stream gaps total_ns share mean_ns median_ns max_ns cause",
            sort="device,stream,-total_ns",
        ),
        agents=AgentOptions("idle time of a device by cause"),
    ),
    ListedTable(
        "gaps",
        groups=("device", "stream"),
        command=CommandOptions(
            "List the gaps in which a device was idle, with the work before and after.",
            "duration_ns start_ns device stream cause step before after",
            sort="-duration_ns",
            view="overview",
        ),
    ),
    ListedTable(
        "launches",
        groups=("api", "operator"),
        command=CommandOptions(
            "List the calls that launched device work: what they cost, and how long the work waited.",
            "calls pieces host_ns host_mean_ns host_p99_ns delay_median_ns delay_p99_ns slow late name",
            sort="-host_ns",
            view="kernels",
        ),
        agents=AgentOptions("calls that launch device work"),
    ),
    ListedTable("queues", agents=AgentOptions("work that waited for a stream")),
    ListedTable(
        "copies",
        command=CommandOptions(
            "List copies and fills by kind: bytes, time, bandwidth.",
            "device calls bytes total_ns active_ns bandwidth max_bandwidth pageable kind",
            sort="-active_ns",
            view="kernels",
        ),
        agents=AgentOptions("copies and fills of a kind"),
    ),
    ListedTable(
        "path",
        "critical_path/pieces",
        command=CommandOptions(
            "List the pieces of the critical path, which determines the length of the steps.",
            "duration_ns start_ns step part track name",
            sort="-duration_ns",
        ),
        agents=AgentOptions("a piece of the critical path"),
    ),
    ListedTable(
        "communication",
        command=CommandOptions(
            "List the communication of every rank of a run: calls, bytes, transfer and waiting.",
            "calls total_bytes latency_ns transfer_ns wait_ns busbw worker group name",
            sort="-latency_ns",
            of_run=True,
        ),
    ),
    ListedTable(
        "rank-ranges",
        command=CommandOptions(
            "List the ranges that a program names, over all ranks of a run, and the rank that differs most.",
            "ranks calls host_ns host_least_ns host_most_ns device_ns exposed_ns far_worker far_time far_ns name",
            sort="-host_ns",
            of_run=True,
        ),
    ),
    ListedTable(
        "allocators",
        "memory/operators",
        command=CommandOptions(
            "List the memory that operators allocated, as a trace recorded it.",
            "calls self_size_increase size_increase self_allocation_size self_allocation_count name",
            [_DEVICE],
            sort="-self_allocation_size",
        ),
        agents=AgentOptions("what an operator allocated"),
    ),
    ListedTable(
        "allocations",
        "memory/events",
        command=CommandOptions(
            "List allocations with their releases, as a trace recorded them.",
            "bytes duration_ns alloc_ns release_ns device operator",
            [_DEVICE],
            sort="-bytes",
        ),
        agents=AgentOptions("an allocation with its release"),
    ),
    ListedTable(
        "module-memory",
        "memory/modules",
        command=CommandOptions(
            "List the memory in use at its peak, by module and category.",
            "bytes blocks gradient optimizer_state saved_for_backward kept_from_forward module",
            [_DEVICE],
            sort="-bytes",
        ),
        agents=AgentOptions("a module"),
    ),
    ListedTable(
        "slices",
        command=CommandOptions(
            "List the longest events of a trace.",
            "duration_ns start_ns row category track name",
            [
                TableOption("name", (), "of this name only"),
                TableOption("category", (), "of this category only, such as kernel"),
            ],
            sort="-duration_ns",
        ),
        agents=AgentOptions(f"one event, the longest {_MOST_EVENTS}", {"most": str(_MOST_EVENTS)}),
    ),
    ListedTable(
        "graphs",
        command=CommandOptions(
            "List the graphs that devices replayed (CUDA Graphs and the like).",
            "graph replays nodes device_ns span_ns inside_ns between_ns",
            sort="-device_ns",
            view="overview",
        ),
    ),
    ListedTable(
        "traces",
        command=CommandOptions(
            "List the traces below a directory, with the figures of each.",
            "steps step busy computing exposed_communication peak_bytes trace",
            of_run=True,
        ),
    ),
)

TABLES: Mapping[str, ListedTable] = {each.name: each for each in _ALL}
#: those that a command prints
COMMANDS: Mapping[str, ListedTable] = {name: each for name, each in TABLES.items() if each.command.help}
#: those that agents can ask for
FOR_AGENTS: Mapping[str, tuple[ListedTable, AgentOptions]] = {
    name: (each, each.agents) for name, each in TABLES.items() if each.agents
}
