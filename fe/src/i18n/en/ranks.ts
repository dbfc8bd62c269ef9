import { counted } from "../counted";
import { area } from "../translation";

export const ranks = area("ranks", {
  answer: {
    title: "Who is slow",
    one: (step: string) =>
      `Only one rank was read, so waiting cannot be measured. A step takes ${step}.`,
    none: (ranks: string, steps: string) =>
      `No rank is slow: over ${steps === "1" ? "one step" : `${steps} steps`}, none of the ${ranks} ranks is clearly slower than its peers.`,
    two: (rank: string, late: string) =>
      `${rank} works ${late} longer in each step, and the other rank waits for it.`,
    soFar: (ranks: string, step: string) =>
      `${ranks} ranks have been read so far, and a step takes ${step}. Slow ranks are named once all have been read.`,
    unknown: (ranks: string) =>
      `${ranks} ranks were read, but they have no steps in common to compare.`,
    slow: (rank: string, cause: string, late: string) =>
      `${rank} is slow: ${cause}, ${late} more than its peers in each step.`,
    several: (n: string, cause: string, late: string) =>
      `${n} ranks are slow: ${cause}, up to ${late} more than their peers in each step.`,
    mixed: (n: string, first: string) =>
      `${n} ranks are slow for different reasons, most of all ${first}.`,
    link: (group: string, ratio: string) =>
      `No rank is slow, but a link is: transfers of ${group} take ${ratio} times as long as those of groups like it.`,
    saving: (ns: string, share: string) => `Without this a step would be ${ns} (${share}) shorter.`,
    savingOfAll: (n: string, ns: string, share: string) =>
      `Without ${n === "2" ? "both" : `all ${n}`} delays a step would be ${ns} (${share}) shorter.`,
    nothing: "Without this a step would be no shorter: other ranks take as long.",
    alsoLink: (group: string) => `The link of ${group} is slow as well.`,
    confidence: { high: "high confidence", medium: "medium confidence", low: "low confidence" },
    confidenceHelp: "High with all ranks of the job and at least four steps.",
    read: (read: string, all: string) => `${read} of ${all} ranks read`,
    reading: (read: string, all: string) =>
      `${read} of ${all} ranks read; the page updates as they arrive`,
    failed: (n: string) => `${n} could not be read`,
  },

  cause: {
    input: "longer waits for input",
    slow_compute: "the same kernels take longer",
    more_work: "more work",
    slow_operator: "one operator takes longer",
    late_launches: "the host launches work late",
    allocator: "the allocator takes long",
    network: "transfers take longer",
    unknown: "for no single reason",
  },
  causeName: {
    input: "Input",
    slow_compute: "Slow compute",
    more_work: "More work",
    slow_operator: "Slow operator",
    late_launches: "Late launches",
    allocator: "Allocator",
    network: "Network",
    unknown: "Unknown",
  },
  rank: (name: string) => `Rank ${name}`,
  onHost: (name: string, host: string) => `${name} on ${host}`,

  tiles: {
    ranks: "Ranks",
    ranksHelp: "Ranks whose traces were read, of all ranks of the job.",
    of: (present: string, expected: string) => `${present} of ${expected}`,
    ofAll: (expected: string) => `of ${expected}`,
    nodes: (n: string) => (n === "1" ? "on 1 node" : `on ${n} nodes`),
    loading: (n: string) => `${n} being read`,
    failed: (n: string) => `${n} failed`,
    missing: (n: string) => `${n} missing`,
    step: "Step time",
    stepHelp: "Median over the ranks and steps that all of them have.",
    steps: (n: string) => counted(n, "step"),
    wait: "Exposed wait",
    waitHelp:
      "Time of a step in which a rank waited in a collective for other ranks and computed nothing; mean over the ranks. Needs at least two ranks: all leave a collective together, so the one that arrived last did not wait.",
    transfer: "Exposed transfer",
    transferHelp:
      "Time of a step in which a rank moved data and computed nothing; mean over the ranks.",
    hidden: "Hidden",
    hiddenHelp: "Communication of a step while the rank computed; mean over the ranks.",
    ofStep: (share: string) => `${share} of the step`,
    oneRank: "unknown from one rank",
    unmatched: "no collective could be matched",
    slowest: "Slowest rank",
    slowestHelp:
      "The rank whose own time between collectives most exceeds its peers', if the difference is significant. Waiting is excluded.",
    nobody: "none",
    nobodyRemark: "no straggler",
    later: "when all are read",
    lost: "Lost to imbalance",
    lostHelp:
      "How much shorter a step would be without the time that all slow ranks take beyond their peers, from a replay of all ranks together. What each of them saves alone is in the table of slow ranks.",
    notCompared: "unknown",
  },

  byNode: {
    title: (metric: string) => `${metric} by node, from the median`,
    summary: (metric: string, ranks: string, nodes: string) =>
      `${metric} of ${ranks} ranks on ${counted(nodes, "node")}, as deviation from the median. The numbers are in the table of ranks.`,
    help: "A tile per rank, by node and by its place on it: how far its mean is from the median of all ranks, in the metric that is chosen below. Slow ranks are outlined. Click a tile to choose its rank.",
    node: "Node",
    rank: "Rank",
    nodeNumber: (n: number) => `node ${n}`,
  },

  heat: {
    title: "Ranks × steps",
    help: "One cell per rank and step; the darker the cell (in the dark theme: the brighter), the larger the value. Where there is no room, ranks share a line, which then shows the largest of them. Cells far from the median of their step are outlined. Click a cell to choose its rank and step.",
    metric: "Colour",
    order: "Rows by",
    metrics: {
      step_ns: "Step time",
      compute_ns: "Compute",
      exposed_wait_ns: "Exposed wait",
      exposed_transfer_ns: "Exposed transfer",
      own_ns: "Own time",
      input_ns: "Input",
      host_ns: "Host",
      memory_bytes: "Memory",
    },
    orders: { rank: "Rank", node: "Node", value: "Value" },
    step: "Step",
    keys: "Arrow keys go from cell to cell, Home and End to the ends of a row, Enter chooses the rank and the step.",
    summary: (metric: string, ranks: string, steps: string, least: string, most: string) =>
      `${metric} of ${ranks} ranks in ${steps} steps, from ${least} to ${most}. The numbers are in the table of ranks.`,
    cell: (rank: string, step: string, value: string) => `${rank}, step ${step}: ${value}`,
    merged: (ranks: string, steps: string) =>
      steps === "1"
        ? `Up to ${ranks} ranks share a line.`
        : `Up to ${ranks} ranks and ${steps} steps share a cell.`,
    outliers: (n: string) => counted(n, "outlier"),
    empty: "This was not recorded.",
    reason: "None of the ranks has this metric in any step.",
    noSteps: "The ranks have no steps in common.",
  },

  show: {
    trace: (view: string) => `Show in ${view}`,
    both: (view: string) => `Show both in ${view}`,
    compare: "Compare with a typical rank",
  },

  stragglers: {
    title: "Slow ranks",
    help: "Judged by own time between collectives: from the end of a rank's last operation with other ranks to the start of its next collective. It includes no waiting. A rank is named when it is far from its peers (ranks with the same sequence of collectives) in most steps.",
    none: "No rank is clearly slower than its peers.",
    later: "Slow ranks are named once all ranks are read.",
    one: "With one rank there are no peers to compare with.",
    rank: "Rank",
    host: "Host",
    late: "Late per step",
    lateHelp:
      "How much longer the rank takes than the median of its peers, per step: own time in the step or before one collective, or the extra time of its kernels or its host, whichever is the clearest evidence. Late in the table Ranks is about own time in the step.",
    far: (z: number, n: string) => `${z < 3.5 ? "as usual" : z < 10 ? "far" : "very far"} (${n})`,
    z: "From its peers (z)",
    zHelp:
      "Lateness as a robust z-score among the peers, where it is largest; z in the table Ranks is about own time in the step. Empty with fewer than three peers.",
    steps: "Steps",
    stepsHelp: "In how many of the compared steps it is clearly late.",
    stepsOf: (n: string, all: string) => `${n} of ${all}`,
    cause: "Cause",
    where: "Where",
    saving: "Saving",
    noSaving: "none",
    beside: (rank: string) => `With the typical ${rank} below it`,
    savingHelp:
      "How much shorter a step of all ranks would be without this rank's delay alone, from a replay of all ranks together. None where other ranks are as late.",
    before: (what: string) => `before ${what}`,
    actions: "Look at it",
    listed: (n: string) =>
      n === "1"
        ? "1 rank is late, but does not count as slow"
        : `${n} ranks are late, but do not count as slow`,
    more: (n: string) => `and ${n} more`,
    doubt: {
      "": "",
      few_steps: "too few steps to be sure",
      few_peers: "too few peers to be sure",
      small: "too small to matter",
      loading: "not all ranks are read",
    },
    links: "Slow links",
    link: (group: string, ratio: string, kind: string, extra: string) =>
      `${group}: ${kind} takes ${ratio} times as long as in groups like it, ${extra} more in each step`,
    pair: (a: string, b: string) => `between ranks ${a} and ${b}`,
    ranksOf: (ranks: string) => `ranks ${ranks}`,
  },

  missing: {
    title: "Missing collectives",
    help: "Some members of the group recorded these and others did not: the ranks may have diverged there, which can hang the job.",
    item: (name: string, group: string, where: string) => `${name} of ${group}${where}`,
    step: (step: string) => `, step ${step}`,
    sequence: (n: string) => `, number ${n}`,
    lacks: (ranks: string) =>
      /\D/.test(ranks) ? `ranks ${ranks} lack it` : `rank ${ranks} lacks it`,
    inexact: "one of several identical calls",
    stops: "last operation of this group: the job may hang here",
  },

  representatives: {
    title: "Representatives",
    help: "A few ranks that represent all: every other rank is like one of them in step time, compute, communication and input.",
    like: (n: string) => (n === "1" ? "represents itself" : `represents ${n}`),
    slow: "slow",
  },

  sections: {
    label: "Sections",
    stragglers: "Stragglers",
    pipeline: "Pipeline",
    collectives: "Collectives",
    layout: "Layout",
    tables: "Tables",
  },

  collectives: {
    title: "Collectives",
    help: "Matched across the ranks and counted once for all of them. Transfer is the shortest time that any rank needed once all had arrived; the rest is waiting. Click a row to see the call that waited longest, in the trace of its rank.",
    empty: "No collective was recorded",
    emptyReason: "None of the traces contains a collective.",
    alike: (n: string, role: string) => `${n} groups, alike: ${role}`,
    all: (n: string) => `Show all ${n} rows`,
    fold: "Fold those that are alike",
    link: { within_node: "within a node", between_nodes: "between nodes", unknown: "unknown" },
  },

  ranges: {
    title: "Ranges of the program",
    help: "Every record_function and every range of torch and frameworks, compared over the ranks: the median rank, and the outlier. In a range that waits for other ranks, the late rank takes the least time. With a step chosen above, only that step counts. Click a row to see the range on each rank.",
    onEach: (name: string) => `${name} on each rank`,
    onEachInStep: (name: string, step: string) => `${name} on each rank, step ${step}`,
    leftOut: (n: string) =>
      n === "1" ? "1 shorter name is left out." : `${n} shorter names are left out.`,
    times: { host: "host", device: "device", exposed: "exposed" },
  },

  scatter: {
    title: "Size and bandwidth",
    help: "A point for each size, kind of collective and kind of group: size ÷ median transfer. The line is t = α + S ÷ β, fitted robustly: α is the latency of an operation of size 0, β the bandwidth of a very large one. Click a point to see its call that waited longest.",
    series: (kind: string, role: string, n: string, link: string) =>
      [`${kind}, ${role} of ${n}`, link].filter(Boolean).join(", "),
    summary: (n: string) => `Bandwidth by size of ${n} kinds of collectives.`,
    size: "Size",
    bandwidth: "Bandwidth",
    transfer: "Transfer",
    busbw: "Bus bandwidth",
    calls: "Calls",
    which: "Collective",
    fit: "Fits",
  },

  layout: {
    title: "Process groups and layout",
    help: "The dimensions of the parallel layout, inferred from the names of the process groups and their ranks.",
    roles: {
      dp: "Data parallel",
      tp: "Tensor parallel",
      pp: "Pipeline parallel",
      ep: "Expert parallel",
      cp: "Context parallel",
      world: "All ranks",
      unknown: "Unknown",
    },
    dimension: (role: string, size: string) => `${role} ${size}`,
    stride: (n: string) => `stride ${n}`,
    nodes: (nodes: string, ranks: string) =>
      `${counted(nodes, "node")} of up to ${counted(ranks, "rank")}`,
    oneNode: (ranks: string) => `1 node of ${counted(ranks, "rank")}`,
    none: "The traces name no process groups of several ranks.",
    groups: "Process groups",
  },

  pipeline: {
    title: (step: string) => `Pipeline stages, step ${step}`,
    help: "What the stages of the pipeline did in one step, each represented by one rank, from the start of its own step. Bubbles are waits for other stages. Click a send or receive to see it on the timeline of that rank; click a bubble to see its step.",
    stage: (n: string, ranks: string) => `Stage ${n} (${ranks})`,
    kinds: { work: "Work", wait: "Wait", transfer: "Transfer" },
    start: "Start",
    duration: "Duration",
    stageColumn: "Stage",
    kind: "What",
    summary: (stages: string, bubble: string) =>
      `${stages} stages; bubbles take up to ${bubble} of a step.`,
    bubbles: "Bubbles",
    bubble: (stage: string, share: string, ns: string) => `stage ${stage}: ${share}, ${ns}`,
  },

  moe: {
    title: "Expert balance",
    help: "All-to-alls of unequal parts: how much more the rank with the largest part sends than the mean. 1 is balanced. Click a group to see the largest part of that rank.",
  },

  fsdp: {
    title: "Sharded parameters",
    help: "All-gathers of parameters and reduce-scatters of gradients (FSDP, ZeRO): whether they are issued early enough to be hidden. Click a group to see the gather that was issued latest.",
    yes: "yes",
    no: "no",
  },

  table: {
    title: "Ranks",
    help: "Medians over the steps of each rank. Click a row to choose the rank for all views.",
  },

  details: {
    title: "Steps and operations of each rank",
    help: "The parts of the steps and the operations of every rank as columns and tables. With many ranks this is a large answer, so it is loaded when opened.",
    open: (n: string) => `Show the details of ${n} ranks`,
  },
});
