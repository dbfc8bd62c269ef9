import { counted } from "../counted";
import { area } from "../translation";

export const compare = area("compare", {
  baseline: "Baseline",
  experiment: "Experiment",

  /** Above the tables of other views. */
  table: {
    with: (trace: string) => `Compared with ${trace}.`,
    steps: (baseline: string, here: string) =>
      `Numbers are sums over all steps: ${baseline} in the baseline, ${here} here.`,
    joining: "Loading the baseline…",
    waiting: (percent: string | null) =>
      percent === null
        ? "The baseline is still being read."
        : `The baseline is still being read: ${percent}`,
    failed: (reason: string) => `The baseline could not be read: ${reason}`,
    problem: (reason: string) => `The baseline could not be loaded: ${reason}`,
    itself: "The baseline is this trace itself: there is nothing to compare.",
    gone: "Only the baseline has this row.",
  },

  pickers: {
    title: "What is compared",
    help: "The experiment is the trace that all views show; the baseline is what it is compared with. A change is experiment − baseline, so that less time is a negative change.",
    /** Names of pickers; the side comes first, because they stand next to those of the page. */
    names: {
      baseline: { run: "Baseline run", worker: "Baseline worker", span: "Baseline span" },
      experiment: {
        run: "Experiment run",
        worker: "Experiment worker",
        span: "Experiment span",
      },
    },
    swap: "Swap",
    swapHint: "Make the baseline the experiment, and the experiment the baseline",
    everywhere: "Compare in other views, too",
    end: "End the comparison",
    why: {
      run: "Chosen for you: the same worker in the run that is most like this one.",
      span: "Chosen for you: another span of the same worker.",
      worker: "Chosen for you: another worker of the same run.",
      other: "Chosen for you: a trace of another run that is like this one.",
    },
    set: (views: string) => `${views} show this comparison as well.`,
    none: "No other trace here is like this one",
    noneReason:
      "A baseline is suggested where the device is the same and at least half of the names of operators and modules are. Choose one to compare with it all the same.",
  },

  sections: {
    label: "Sections",
    change: "Change",
    order: "Execution",
    tables: "Tables",
  },

  states: {
    itself: "Both sides are the same trace",
    itselfReason: "Choose another baseline above. A trace compared with itself shows no change.",
    single: "There is only one trace here",
    singleReadable: "There is only one trace here that could be read",
    singleReason:
      "A second one is needed to see what became faster or slower: record the same program again after a change (another batch size, more data loader workers, a new release of PyTorch) into a run of its own next to this one. It appears here automatically.",
    singleRemedy: (dir: string) =>
      `on_trace_ready=tensorboard_trace_handler(${JSON.stringify(`${dir.replace(/\/+$/, "")}/after_the_change`)})`,
    singleInReport: {
      title: "There is only one trace in this report",
      reason:
        "A report compares the traces that it contains. This command makes one with several ranks of a run; without --worker it contains the first eight:",
      remedy:
        "torch-tb-profiler report LOGDIR --run RUN --worker NAME --worker OTHER -o report.html",
    },
    loadingTitle: (trace: string) => `The baseline is still being read: ${trace}`,
    loading: (percent: string, done: string, total: string) =>
      `${percent} – ${done} of ${total} read`,
    queued: "Waiting in the queue.",
    failedTitle: (trace: string) => `The baseline could not be read: ${trace}`,
    failedHelp: "Choose another one above.",
    noPart: "This comparison has no such part",
    noPartReason: "The link was made with other traces, or one of the files has changed.",
    showAll: "Show everything",
  },

  headline: {
    title: "What changed",
    host: (before: string, after: string) => `Host time ${before} → ${after}`,
    device: (before: string, after: string) => `Device time ${before} → ${after}`,
    noChange: "no change",
    hardly: (change: string) => `${change}, less than 0.1 %`,
    noSteps:
      "At least one of the traces has no steps: the time of the whole trace is compared, whatever the program did in it.",
  },

  timeline: {
    title: "Execution Comparison",
    help: "What both programs do, side by side in program order: modules and their backward, data loading, optimizer and steps; without these, annotations; otherwise operators. Parts are paired by kind and name; whatever lies between two pairs is one part. Time is the device time of a part, or its duration on the host.",
    chart: "Parts of both programs",
    part: "Part",
    path: "Where you are",
    hint: "Click on a part, or choose it in the table below, to see what it consists of.",
    measure: "Time",
    host: "Host",
    device: "Device",
    measures: { total_ns: "Time", device_ns: "Device", duration_ns: "Host" },
    order: "Parts",
    orders: { each: "In order", name: "By name" },
    sum: "Sum",
    sums: { all: "All steps", step: "Per step" },
    accumulated: "Accumulated difference",
    difference: "Difference",
    differencePercent: "Difference %",
    beforeSum: "Baseline, running sum",
    afterSum: "Experiment, running sum",
    summary: (parts: number, changes: string) =>
      `${counted(parts, "part")} side by side: ${changes || "no change"}`,
    leaf: "There is no level below this one",
    leafReason:
      "Nothing inside can be paired on both sides. The tables below still compare everything in it.",
    range: (first: string, last: string, all: string) => `Parts ${first} to ${last} of ${all}`,
    earlier: "Earlier parts",
    later: "Later parts",
    repeated: (name: string, times: string) => `${name} × ${times}`,
  },

  /** Any number of traces in one table. */
  many: {
    howMany: "How many traces",
    two: "Two traces",
    many: "Any number",
    title: "Traces",
    help: "One row per trace: averages over its steps, its devices, its memory. Choosing a row shows that trace in all views. More columns, such as the largest operator, are under Columns; a filter such as run~resnet step>100ms narrows the list.",
    scope: "Which traces",
    scopes: {
      runs: "One of each run",
      run: "All of this run",
      all: "All traces",
    },
    empty: "No trace was read yet",
    emptyReason: "Traces appear here as soon as they have been read.",
    byName: "Side by side",
    byNameHelp:
      "One row per operator or kernel, one column per trace. Until you sort them, rows are ordered by the spread: first where the traces differ most.",
    what: "What",
    whats: { operators: "Operators", kernels: "Kernels" },
    measure: "Number",
    measures: {
      host_self_ns: "Host self",
      device_self_ns: "Device self",
      total_ns: "Total",
      calls: "Calls",
    },
    nothingOf: {
      operators: "None of the traces has operators.",
      kernels: "None of the traces has kernels.",
    },
    per: {
      step: "Numbers are per step: those of each trace divided by its steps.",
      all: "Numbers are sums over the whole traces: not all of them have steps.",
    },
    leftOut: (shown: string, more: string) =>
      `The first ${shown} traces are shown, ${more} more are not.`,
  },

  kinds: {
    module: "module",
    backward: "backward",
    dataloader: "data loading",
    optimizer: "optimizer",
    step: "step",
    label: "annotation",
    communication: "communication",
    operator: "operator",
    group: "group",
    before: "launched before the recording",
    rest: "the rest",
  },

  tables: {
    parts: "Parts",
    partsHelp:
      "The parts of the current level. Choose one to open it. Rows are in program order until you sort them.",
    operators: "Operators compared",
    operatorsHelp:
      "All operators in the part shown and below it, by name. Rows are ordered by the largest change until you sort them.",
    kernels: "Kernels compared",
    kernelsHelp:
      "All kernels launched in the part shown, by name. Rows are ordered by the largest change until you sort them.",
    none: "Nothing to compare",
    noOperators: "Neither of the two has operators here.",
    noKernels: "Neither of the two has kernels here.",
    path: "Path",
    part: "Part",
    partHelp: "The name of the part; baseline → experiment where the names differ.",
    times: "Times",
    timesHelp: "How many parts of this level have this name.",
    perStep: (baseline: string, here: string) =>
      `Numbers are per step: divided by ${baseline} steps of the baseline and ${here} of the experiment.`,
  },

  columns: {
    status: "Change",
    statusHelp:
      "new: only the experiment has it. gone: only the baseline has it. Otherwise whether the number that is compared is more, less or the same.",
    statuses: { new: "new", gone: "gone", more: "more", less: "less", same: "same" },
    baseline: (label: string) => `Baseline ${label}`,
    delta: (label: string) => `Δ ${label}`,
    deltaPercent: (label: string) => `Δ % ${label}`,
    baselineHelp: (help: string) => `Baseline: ${help}`,
    deltaHelp: (help: string) => `Experiment − baseline: ${help}`,
    deltaPercentHelp: (label: string) =>
      `Change of ${label} in percent of the baseline; none where the baseline is 0.`,
  },
});
