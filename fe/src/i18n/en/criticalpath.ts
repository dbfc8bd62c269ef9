import { area, byWord } from "../translation";

export const criticalpath = area("criticalpath", {
  question: "What do the steps wait for?",
  chart: "Critical path of each step",
  chartHelp:
    "Followed back from the end of each step, always to the cause that came last: a kernel waits for the one before it or for its launch, the host for the device. Nothing on this path can take longer without the step taking longer. The parts add up to the step. Choose a step to list its path below.",
  step: "Step",
  what: "steps",
  mode: "Scale",
  absolute: "Absolute",
  percent: "Percent",
  empty: "There is nothing to replay",
  emptyReason: "No step of this trace has a duration.",

  explained: (share: string) => `${share} explained`,
  explainedHelp:
    "The share of the step time whose cause is recorded in the trace. The rest is waiting that nothing recorded explains: from 10 % on, numbers are uncertain; from 40 % on, no savings are shown.",
  low: "Low confidence: much of the time has no cause in the trace.",
  refused: "Not answered",
  // More than the server says: the others are its own. In Chinese this is `words/zh-CN/refusals.toml`, but for `waits`.
  refusals: byWord<string | ((share: string) => string)>({
    no_device:
      "The device that the program used was not recorded: what changes would save is unknown.",
    no_launches: (share: string) =>
      `${share} of the work on devices has no recorded launch: the effect of changes of host time is unknown.`,
    lost_work: (share: string) =>
      `${share} of the launches have no recorded work, so the profiler lost it: the effect of changes of device work is unknown.`,
    unexplained: (share: string) =>
      `${share} of the critical path has no cause in the trace: the path is shown, savings are not.`,
    waits: "A wait ends with what it waits for: it cannot become faster by itself.",
  }),

  related:
    "That is what a good remedy reaches: kernels twice as fast, a host that takes a third less. Below, a resource takes no time at all.",
  largest: (resource: string, share: string) =>
    `The largest part of the critical path is ${resource}: ${share}.`,
  saves: (resource: string, time: string, share: string) =>
    `If ${resource} took no time, a step would be at most ${time} (${share}) shorter`,
  limitsThen: (resource: string, share: string) =>
    `${resource} would then dominate the critical path (${share}).`,
  meanOf: (steps: string) => (steps === "1" ? "One step" : `Mean of ${steps} steps`),
  savesToo: (savings: string) => `Others, each on its own, would save at most: ${savings}.`,
  saving: (resource: string, time: string, share: string) => `${resource} ${time} (${share})`,
  nothingSaves: "No single part would make the steps shorter if it took no time.",
  noThen: "nothing else would remain on the critical path.",

  resources: {
    input: "Input",
    host: "Host",
    launch: "Launch calls",
    sync: "Waiting for the device",
    communication: "Communication",
    copies: "Copies",
    compute: "Compute kernels",
    unknown: "Unexplained",
  },
  resourcesInText: {
    input: "input",
    host: "the host",
    launch: "launch calls",
    sync: "waiting for the device",
    communication: "communication",
    copies: "copies",
    compute: "compute kernels",
    unknown: "unexplained time",
  },
  table: "What limits the steps",
  tableHelp:
    "Savings come from a replay, not from shares of the path: work that overlaps other work can vanish without saving anything. If free: the most that any remedy can save. Savings do not add up.",
  columns: {
    resource: "Resource",
    onPath: "On the path",
    onPathHelp: "Time of the critical path, mean over the steps; the rows add up to the step.",
    share: "Share",
    shareHelp: "Time on the path ÷ time of the steps.",
    free: "If free",
    freeHelp:
      "How much shorter the mean step can get at most if this takes no time, from a replay. For waiting for the device: if no call waits, which is possible only where nothing needs the values.",
    freeShare: "If free, %",
    faster: "If 20 % faster",
    fasterHelp: "How much shorter the mean step is if every piece of it takes 80 % of its time.",
    fasterShare: "If 20 % faster, %",
    next: "Then limits",
    nextHelp: "What takes most of the path if this takes no time.",
    missing: "Not answered; the reason is above",
  },
  piecesOf: (resource: string, step: string) =>
    `Show the pieces of ${resource} on the path of step ${step}`,
  withWaiting:
    "This is one rank: its communication includes waiting for other ranks, so a faster network may save less.",
  notTold: (resources: string) => `Not on the path, and no saving if free: ${resources}.`,

  names: {
    title: "On the path",
    help: "Operators and functions count with their own host time on the path, without what they call, and with the device work that belongs to them. A function is the innermost frame of your own code. Times are means over the steps.",
    kind: "List",
    operators: "Operators",
    kernels: "Kernels",
    functions: "Python functions",
    modules: "Modules",
    none: "None of these is on the path, or none were recorded.",
    whats: {
      operator: "Operator",
      annotation: "Annotation",
      kernel: "Kernel",
      copy: "Copy",
      communication: "Communication",
      function: "Function",
      module: "Module",
    },
    share: "Share",
    shareHelp: "Time on the path ÷ time of the steps.",
    hostSlack: "Host slack",
    hostSlackHelp:
      "How much longer the host could take for a call without delaying the end of any step; median over all calls. The work that it launches has its own slack, see Kernels.",
  },

  pieces: {
    one: "Path of one step",
    title: (step: string) => `Path of step ${step}`,
    help: "The path of one step, piece by piece. Open a row to go to it in the Trace view.",
    none: "Choose a step in the chart to list its path.",
    show: "Show in Trace",
    showStep: "Show the step in Trace",
    close: "Close",
    noEvent: "No event of the trace covers this time.",
  },

  whatIf: {
    title: "What if",
    help: "The steps are replayed with these changes: dependencies stay the same, and whatever gets shorter lets its successors start earlier. All changes apply together. They are part of the address, so a link shows the same.",
    factor: (name: string) => `Factor of ${name}`,
    times: (factor: string) => `× ${factor}`,
    recorded: "as recorded",
    free: "free",
    reset: "Reset all",
    resetOne: (name: string) => `Reset ${name}`,
    remove: (name: string) => `Remove ${name}`,
    durations: "Durations",
    waits: "Waiting",
    chosen: "Chosen by name",
    add: "Add",
    addHint: "Choose one to scale it",
    groups: {
      operator: "Operator",
      module: "Module",
      function: "Function",
      kernels: "Kernel",
      copies: "Copy",
    },
    labels: {
      data: "Data loading",
      host: "All host time",
      python: "Python",
      operators: "Operators on the host",
      launch: "Launch calls",
      allocator: "Allocator calls",
      api: "Other API calls",
      kernels: "Compute kernels",
      copies: "Copies and sets",
      collectives: "Collectives",
      sync: "No call waits for the device",
      copy_waits: "Copies do not block their call",
      queue: "The launch queue is never full",
      pinned: "Pageable copies use pinned memory",
      graph: "Each step is launched as one CUDA graph",
    },
    of: {
      sync: (name: string) => `No wait inside ${name}`,
      copy_waits: (name: string) => `Copies do not block inside ${name}`,
    },
    start: "Move a slider or tick a box to see how long the steps would take.",
    before: "Recorded",
    after: "Changed",
    savedAtMost: "Saved per step, at most",
    saved: "Saved per step",
    longer: "Longer per step",
    mean: "Mean step",
    between: (low: string, high: string) => `between ${low} and ${high}`,
    noInterval: "too few steps for an interval",
    limits: "Limited by",
    limitsAfter: (resource: string) => `before: ${resource}`,
    bound:
      "An upper bound: something takes no time at all, or nothing waits. A real remedy saves less.",
    withWaiting:
      "On one rank the time of collectives includes waiting for other ranks, so this saving is not certain.",
    gone: (names: string) => `Not in this trace, so left out: ${names}.`,
    path: "Critical path of the mean step",
    resource: "Resource",
    change: "Change",
    step: "Step",
    perStep: "Every step",
  },
});
