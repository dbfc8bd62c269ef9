import { area } from "../translation";

export const distributed = area("distributed", {
  what: "ranks",
  rank: "Rank",
  worker: "Worker",

  choice: "What the numbers are of",
  step: "Numbers of",
  allSteps: "all steps, average",
  stepOption: (name: string) => `step ${name}`,
  stepMissing: (n: string) =>
    n === "1" ? "1 rank has no such step" : `${n} ranks have no such step`,
  order: "Order",
  byRank: "Rank",
  bySlowest: "Longest first",
  mode: "Scale",
  absolute: "Absolute",
  percent: "Percent",

  empty: "No communication between ranks was found",
  emptyReason:
    "This view compares the ranks of one run. It needs traces of a program that communicates (torch.distributed: NCCL, Gloo, MPI, …), one of each rank, in the same directory.",
  emptyRemedy:
    'on_trace_ready=tensorboard_trace_handler(log_dir, worker_name=f"rank{dist.get_rank()}")',
  noSteps: "No rank has a step",
  noStepsReason: "Nothing in these traces has a duration, so there are no steps to compare.",

  run: {
    loaded: (n: number) => `all ${n} ranks replayed together`,
    partly: (n: number, all: number) => `${n} of ${all} ranks replayed together`,
    loadedHelp:
      "A collective begins when the last of these ranks is there. What it costs includes waiting for ranks that are not loaded.",
    help: "Causes of lost time in the whole run, the largest saving first. A saving is what the average step of all ranks would be shorter by, worked out by replaying all ranks together without the cause; each counts after those above it, so that they add up.",
    none: (n: number) => `None of the ${n} rules over several ranks finds a cause of lost time.`,
  },

  tiles: {
    ranksHelp: "Ranks whose traces are here, of all ranks of the run.",
    ranks: "Ranks",
    ranksOf: (present: string, world: string) => `${present} of ${world}`,
    missing: (ranks: string) => `no trace of ${/\D/.test(ranks) ? "ranks" : "rank"} ${ranks}`,
    nodes: (n: string) => (n === "1" ? "on 1 node" : `on ${n} nodes`),
    step: "Step time",
    stepHelp: "Median over the ranks of their step time",
    exposed: "Exposed communication",
    exposedHelp:
      "Time in which communication kernels ran on the device and no compute kernel did ÷ step time, median over the ranks. Empty where communication is only known from calls on the host (gloo, MPI)",
    hidden: "Hidden communication",
    hiddenHelp:
      "Overlapping ÷ (overlapping + communication), median over the ranks: the part of the communication during which the rank computed",
    waiting: "Waiting",
    waitingHelp:
      "Synchronizing ÷ (synchronizing + data transfer), median over the ranks: the part of the time in operations that was spent on waiting for other ranks",
    waitingUnknown: "cannot be known from one rank",
    waitingUnmatched: "no operation could be matched with another rank's",
    median: "median",
    min: "min",
    max: "max",
  },

  straggler: {
    label: "Who is waited for",
    found: (rank: string) => `${rank} comes last`,
    wait: (others: string, own: string, share: string) =>
      `The other ranks wait ${others} per step in their operations, it waits ${own}: a difference of ${share} of the step.`,
    computing: (time: string) => `It computes ${time} longer than the median of the others.`,
    other: (time: string) =>
      `It spends ${time} more on neither computation nor communication (Other) than the median of the others.`,
    unexplained: "It neither computes longer nor has more other time than the others.",
    none: (share: string) =>
      `No rank stands out: the rank that waits least waits less than ${share} of the step below the median of the others.`,
    unknown:
      "The operations of the ranks could not be matched with each other, so nothing says who waits for whom.",
    one: "There is one trace only, so nothing says who waits for whom.",
    show: (view: string) => `Show it in ${view}`,
    rank: (name: string) => `Rank ${name}`,
  },

  overlap: "Computation/Communication Overview",
  overlapHelp:
    "How each rank spends its step. The four parts add up to the step time exactly. A triangle marks the rank that the others wait for.",
  waits: "Synchronizing/Communication Overview",
  waitsHelp:
    "Time in which communication operations that the step called ran, split into waiting for other ranks and moving data. Part of it may be hidden behind computation.",

  heat: "Ranks × steps",
  heatHelp:
    "One cell for each rank and step; the darker the cell (in a dark page: the brighter), the longer. Ranks and steps that do not fit share a cell, which then shows the largest of them. Click a cell to choose its rank and step.",
  heatMetric: "Colour",
  heatMetrics: {
    duration_ns: "Step time",
    computation_ns: "Computation",
    communication_only_ns: "Communication",
    wait_ns: "Synchronizing",
  },
  heatSummary: (metric: string, ranks: string, steps: string, least: string, most: string) =>
    `${metric} of ${ranks} ranks in ${steps} steps, from ${least} to ${most}. The numbers are in the table of ranks.`,
  heatKeys:
    "Arrow keys go from cell to cell, Home and End to the ends of a row, Enter shows the rank and the step.",
  heatMerged: (ranks: string, steps: string) =>
    `A cell shows the largest of ${ranks} ranks and ${steps} steps.`,
  heatCell: (rank: string, step: string, value: string) => `${rank}, step ${step}: ${value}`,
  heatCellMerged: (rank: string, step: string, value: string) =>
    `${rank}, step ${step}: at most ${value}`,
  span: (from: string, to: string) => (from === to ? from : `${from} … ${to}`),

  ranks: "Ranks",
  columns: {
    worker: "Worker",
    rank: "Rank",
    node: "Node",
    duration: "Step time",
    durationHelp: "Duration of the chosen step, or the mean over the steps of the rank.",
    delta: "Δ to median",
    deltaHelp: "Step time − median of the step times of all ranks.",
    exposed: {
      label: "Exposed communication %",
      help: "Time in which communication kernels ran on the device and no compute kernel did ÷ step time. Empty where communication is only known from calls on the host (gloo, MPI).",
    },
    hidden: {
      label: "Hidden %",
      help: "Overlapping ÷ (overlapping + communication): the part of the communication that computation hides.",
    },
    waitShare: {
      label: "Waiting %",
      help: "Synchronizing ÷ (synchronizing + data transfer).",
    },
    steps: "Steps",
    stepsHelp: "How many steps of the rank were recorded.",
  },

  operations: {
    title: "Communication Operations Stats",
    worker: "Operations of",
    allWorkers: "all workers",
    group: "Process group",
    allGroups: "all groups",
    noGroup: "not named",
    waitHelp: "Synchronizing ÷ (synchronizing + data transfer).",
    empty: "No communication operations were recorded",
    emptyReason: "None of the traces of this span holds a collective or a send or receive.",
    noMatch: "This worker has no operations in this group.",
  },

  devices: {
    memoryHelp: "Memory of the device, as the file describes it.",
    title: "Device Information",
    help: "Where each rank ran. Devices are those that did some work, with what the trace says of them.",
    gpu: (id: number) => `GPU ${id}`,
    columns: {
      node: "Node",
      process: "Process",
      worker: "Worker",
      rank: "Rank",
      device: "Device",
      name: "Name",
      memory_bytes: "Memory",
      compute_capability: "Compute capability",
      backend: "Backend",
      groups: "Process groups",
    },
  },

  groups: {
    title: "Process groups",
    list: "List of process groups",
    help: "Groups of ranks that communicate with each other, and of how many of them there is a trace.",
    columns: { name: "Group", size: "Ranks", present: "Traces", ranks: "Which" },
    sizeHelp: "Ranks of the group.",
    presentHelp: "Ranks of the group whose traces are here.",
    unnamed: "not named",
    empty: "The traces name no process groups",
    emptyReason: "torch records them since 2.3.",
  },
});
