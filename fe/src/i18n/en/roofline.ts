import { area } from "../translation";

export const roofline = area("roofline", {
  answer: "What it could be",
  answerHelp:
    "FLOP of matrix products, convolutions and attention, by the shapes of operators. MFU is what the model needs ÷ peak of the device ÷ time of the steps; HFU counts what is executed, also what is computed a second time.",
  sentence: (flop: string, time: string) =>
    `The average step needs ${flop} of matrix products and takes ${time}.`,
  packed: (least: string, most: string) =>
    `Attention over sequences whose lengths were not recorded needs ${least} to ${most} more.`,
  sentenceWithout: (time: string) =>
    `No matrix products are known; the average step takes ${time}.`,
  ofPeak: (mfu: string) => `That is ${mfu} of the peak.`,
  ofPeakRange: (low: string, high: string) =>
    `That is ${low} to ${high} of the peak: which peak counts is not known.`,
  ofPeakAtLeast: (mfu: string) => `That is at least ${mfu} of the peak; a part is not known.`,
  lost: (lost: string, total: string, share: string, name: string, most: string) =>
    `${lost} of ${total} device time (${share}) is lost below the roofline, most of it in ${name}: ${most}.`,
  noLoss: "What it loses is not known.",
  whyNot: {
    no_steps: "There are no steps to measure it by.",
    no_device: "Nothing ran on a device, so there is no peak to compare with.",
    no_peak:
      "The peaks of the device are not known: give them in a file of your own (TORCH_TB_PROFILER_PEAKS).",
    no_products: "Nothing multiplies matrices.",
    coverage: "Too few of the products have known shapes for a utilization.",
  },

  tiles: {
    mfu: "MFU",
    mfuHelp:
      "Model FLOP utilization: FLOP that the model needs ÷ peak of their element types ÷ time of the steps ÷ devices.",
    hfu: "HFU",
    hfuHelp:
      "Hardware FLOP utilization: the same of all FLOP that are executed, also of what is computed again.",
    busy: "MFU while computing",
    busyHelp:
      "The same while a compute kernel runs: slow kernels lower it, an idle device does not.",
    perStep: "FLOP per step",
    perStepHelp: "Matrix FLOP that the model needs in the average step.",
    products: "Products known",
    productsHelp: "Time of products whose FLOP are known ÷ the same with what is not known.",
    bytes: "Bytes known",
    bytesHelp: "Part of the time of kernels, copies and fills of which the least bytes are known.",
    coverage: (known: string) => `${known} of products known`,
    range: (low: string, high: string) => `${low} to ${high}`,
    atLeast: (value: string) => `≥ ${value}`,
    notKnown: "not known",
    executed: (flop: string) => `${flop} executed`,
    estimated: (share: string) => `and ${share} estimated`,
  },

  unknown: "Unknown",
  unknownShare: (share: string) => `${share} of the time`,
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
    generated: "generated kernels whose arguments do not say it",
  } as Readonly<Record<string, string>>,

  chart: "Roofline",
  chartHelp:
    "Each point is what one row of the table computes (FLOP/s) over how much it computes for each byte it must move. It cannot be above the roofs: the rising one is the memory, flat ones are the peaks of element types; dashed below them is the best that this trace itself reaches. On the right stands what multiplies nothing, by its part of the roof. A point is larger the more time it takes.",
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
  strip: "No products",
  roofs: {
    memory: (rate: string) => `Memory ${rate}`,
    host: (rate: string) => `Host link ${rate}`,
    element: (element: string, rate: string) => `${element} ${rate}`,
    reached: "Best of this trace",
    elementReached: (element: string, rate: string) => `${element} reached here ${rate}`,
  },
  legend: {
    used: "Tensor cores used",
    unused: "Tensor cores not used, though there are some",
    product: "Other products",
    moves: "Moves only",
    wave: "Ring: fewer blocks than multiprocessors",
  },
  summary: (rows: string, lost: string) => `${rows} points; ${lost} is lost below the roofline.`,
  first: (n: string, all: string) => `The ${n} of ${all} rows that take most time.`,
  placed: (n: string, all: string) =>
    `${n} of ${all} rows; FLOP or bytes of the others are not known.`,
  noRoofs:
    "The peaks of this device are not known, so there are no roofs and nothing is lost below them.",
  estimated: (spread: string) =>
    `This device is not in the table of peaks: those of its architecture are shown, true within ${spread}.`,
  noChart: "No row has a place under the roofs: FLOP or bytes are not known.",

  table: "Lost time",
  tableHelp:
    "What each call takes longer than its time at the roof: the longer of multiplying and moving at the peaks of the device, not less than 2 µs.",
  total: (lost: string, total: string) => `${lost} of ${total} is lost below the roofline.`,
  share: "% of the time",
  shareHelp: "Part of the time of all kernels, copies and fills without communication.",
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
  } as Readonly<Record<string, string>>,
  advices: {
    alignment: "alignment",
    few_rows: "few rows",
    split_k: "split the sum",
    last_wave: "last round of tiles",
    edges: "edges of tiles",
    merge: "same input in a row",
    batch: "many small in a row",
  } as Readonly<Record<string, string>>,
  aboves: {
    algorithm: "other algorithm",
    cache: "cache",
    strides: "strides not recorded",
    model: "not explained",
  } as Readonly<Record<string, string>>,
  sures: {
    exact: "exact",
    recorded: "recorded",
    derived: "derived",
    bound: "a bound",
    estimate: "estimate",
  } as Readonly<Record<string, string>>,
  worst: (time: string) => `Show the worst call in the trace (${time})`,
  showIn: (view: string) => `Show in ${view}`,
  empty: "Nothing took time",
  emptyReason: "There are neither device work nor operators in this trace.",
  emptyRemedy:
    "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True)",

  compare: {
    title: "FLOP and MFU",
    help: "What the average step of both sides computes, how much of the peak that is, and what is lost below the roofline. MFU is (time while computing ÷ time) × (MFU while computing): the change is divided between the two.",
    change: (change: string, idle: string, kernels: string) =>
      `MFU changed by ${change} of the peak: ${idle} because devices compute for another part of the time, ${kernels} because of the kernels.`,
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
    } as Readonly<Record<string, string>>,
  },
});
