import { area } from "../translation";

export const roofline = area("roofline", {
  answer: "How close to the peak?",
  answerHelp:
    "FLOP of matmuls, convolutions and attention, by the shapes of operators. MFU is the FLOP the model needs ÷ peak of the device ÷ time of the steps; HFU counts all executed FLOP, including recomputation.",
  sentence: (flop: string, time: string) =>
    `The average step needs ${flop} of matmuls and takes ${time}.`,
  packed: (least: string, most: string) =>
    `Attention over sequences whose lengths were not recorded needs ${least} to ${most} more.`,
  sentenceWithout: (time: string) =>
    `The average step takes ${time}; no FLOP of its matmuls are known.`,
  sentenceWhole: (flop: string, time: string) =>
    `The trace needs ${flop} of matmuls and takes ${time}.`,
  sentenceWholeWithout: (time: string) =>
    `The trace takes ${time}; no FLOP of its matmuls are known.`,
  ofPeak: (mfu: string) => `That is ${mfu} of the peak.`,
  ofPeakRange: (low: string, high: string) =>
    `That is ${low} to ${high} of the peak: it is unknown which peak applies.`,
  ofPeakAtLeast: (mfu: string) =>
    `That is at least ${mfu} of the peak; part of the FLOP is unknown.`,
  lost: (lost: string, total: string, share: string, name: string, most: string) =>
    `Of its ${total} device time, ${lost} (${share}) is lost below the roofline, most of it in ${name}: ${most}.`,
  noLoss: "The lost time is unknown.",
  whyNot: {
    no_steps: "There are no steps to measure.",
    no_device: "Nothing ran on a device, so there is no peak to compare with.",
    no_peak:
      "The peaks of the device are unknown: provide them in a file (TORCH_TB_PROFILER_PEAKS).",
    no_products: "There are no matmuls.",
    coverage: "Too few products have known shapes to compute a utilization.",
  },

  unknown: "Unknown",
  unknownShare: (share: string) => `${share} of the time`,
  unknownSmall: (share: string, reasons: number) =>
    `Less than ${share} of the time${reasons > 1 ? " each" : ""}`,
  why: {
    shapes_off: "shapes were not recorded",
    graph_replay: "kernels of a replayed graph whose capture is not recorded",
    compiled_region:
      "compiled regions without arguments of their kernels: newer versions of torch record them",
    before_recording: "launched before the recording",
    no_operator: "launched by no operator",
    contents: "depends on the contents of tensors: indices, lengths",
    long_list: "lists of more than 30 tensors",
    weights: "weights are not among the arguments",
    no_model: "operators without a known formula",
    generated: "generated kernels whose arguments do not show it",
  },

  chart: "Roofline",
  chartHelp:
    "Each point is one row of the table: its FLOP/s over its FLOP for each byte that it must move. The rising line is the memory bandwidth, flat lines are the peaks of the element types; dashed below them is the best that this trace reaches. A point above the roof computes less than its formula counts, as Winograd convolutions do, or finds its data in the cache. Work without matmuls is on the right, by its share of the roof. Points are larger the more time they take.",
  group: "Group by",
  groups: {
    operator_shape: "Operator and shapes",
    operator: "Operator",
    kernel: "Kernel",
    module: "Module",
    line: "Line",
    element: "Element type",
    phase: "Phase",
  },
  xAxis: "FLOP/byte",
  yAxis: "FLOP/s",
  strip: "Memory only",
  roofs: {
    memory: (rate: string) => `Memory ${rate}`,
    host: (rate: string) => `Host link ${rate}`,
    element: (element: string, rate: string) => `${element} ${rate}`,
    reached: "Best of this trace",
    elementReached: (element: string, rate: string) => `${element} reached here ${rate}`,
  },
  legend: {
    used: "Tensor cores used",
    unused: "Tensor cores not used, though available",
    product: "Other products",
    moves: "Memory only",
    wave: "Ring: fewer blocks than multiprocessors",
  },
  summary: (rows: string, lost: string) => `${rows} points; ${lost} is lost below the roofline.`,
  first: (n: string, all: string) => `The ${n} of ${all} rows that take most time.`,
  placed: (n: string, all: string) =>
    `${n} of ${all} rows are drawn; of the rest, FLOP or bytes are unknown.`,
  noRoofs:
    "The peaks of this device are unknown, so there are no roofs and nothing is lost below them.",
  estimated: (spread: string) =>
    `This device is not in the table of peaks: those of its architecture are shown, accurate to ${spread}.`,
  noChart: "No row can be drawn: FLOP or bytes are unknown.",

  table: "Lost time",
  tableHelp:
    "How much longer each call takes than its time at the roof: the longer of computing and moving data at the peaks of the device, but at least 2 µs.",
  total: (lost: string, total: string) => `${lost} of ${total} is lost below the roofline.`,
  share: "% of the time",
  shareHelp: "Share of the time of all kernels, copies and fills, without communication.",
  bounds: { compute: "compute", memory: "memory", link: "link", launch: "launch" } as Readonly<
    Record<string, string>
  >,
  tensorCores: {
    used: "used",
    fp32: "not: 32 bits",
    fp64: "not: 64 bits",
    alignment: "not: alignment",
    groups: "not: groups",
    small: "not: too small",
    other: "not used",
  },
  advices: {
    alignment: "alignment",
    few_rows: "few rows",
    split_k: "split the sum",
    last_wave: "last round of tiles",
    edges: "edges of tiles",
    merge: "same input in a row",
    batch: "many small in a row",
  },
  aboves: {
    algorithm: "other algorithm",
    cache: "cache",
    strides: "strides not recorded",
    model: "not explained",
  },
  sures: {
    exact: "exact",
    recorded: "recorded",
    derived: "derived",
    bound: "a bound",
    estimate: "estimate",
  },
  worst: (time: string) => `Show the worst call in the trace (${time})`,
  empty: "Nothing took time",
  emptyReason: "There are neither device work nor operators in this trace.",
  emptyRemedy:
    "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True)",

  compare: {
    title: "FLOP and MFU",
    help: "What the average step of both sides computes, how much of the peak that is, and what is lost below the roofline. MFU is (time while computing ÷ time) × (MFU while computing): the change is divided between the two.",
    change: (change: string, idle: string, kernels: string) =>
      `MFU changed by ${change} of the peak: ${idle} because devices compute for a different share of the time, ${kernels} because of the kernels.`,
    noChange: "At least one side has no MFU, so there is no change to explain.",
    figures: "Of the average step",
    figure: "Figure",
    perStep: "FLOP per step",
    lost: "Lost per step",
    total: "Device time per step",
    table: "Operators and shapes",
    causes: {
      only_baseline: "only in the baseline",
      only_experiment: "only in the experiment",
      work: "work",
      kernels: "kernels",
      same: "same",
    },
  },
});
