import { counted } from "../counted";
import { area } from "../translation";

/** A place in the program, as the server says it. */
interface Place {
  readonly text: string;
  readonly operator: string | null;
  readonly file: string | null;
  readonly line: number | null;
  readonly function: string | null;
  readonly module: string | null;
  readonly annotation: string | null;
  readonly modules: number | null;
  readonly modules_of_class: number | null;
}

const categories = {
  kernel: "Kernel",
  memcpy: "Memcpy",
  memset: "Memset",
  communication: "Communication",
  runtime: "Runtime",
  dataloader: "DataLoader",
  cpu_exec: "CPU Exec",
  other: "Other",
};

export const overview = area("overview", {
  categories,

  answer: {
    title: "What bounds this run",
    titleOfRank: "What bounds this rank",
    explained: (share: string) => `${share} of the step time explained`,
    explainedHelp:
      "The share of the step time whose cause is recorded in the trace. The higher it is, the more reliable the savings are.",
    together: (time: string, share: string, n: number) =>
      n === 1
        ? `Fixing this finding would save ${time} per step (${share}).`
        : `Fixing all ${n} findings with a known saving would save ${time} per step (${share}).`,
  },

  run: {
    loaded: (n: number, world: number) =>
      n < world ? `${n} of ${world} ranks replayed together` : `all ${n} ranks replayed together`,
    findings: "Over all ranks",
  },

  all: "All numbers",

  picture: {
    title: "The median step",
    only: "The only step",
    which: (step: string, time: string) => `Step ${step}: ${time}`,
    help: "The step of median length. Phases are those of the main thread. Below a device's work, in half height, are its gaps, coloured by why it idled. What is shorter than a pixel is merged; a mark then has the colour of what takes most of it. A number marks the longest place of a finding in this step. Click a mark to see it in the Trace view.",
    keys: "Left and right go along a lane, up and down to another one; Enter shows the mark in the Trace view, or the details of a finding.",
    none: "No steps were found in this trace.",
    remedy: "prof.step()  # at the end of each iteration",
    lanes: { phases: "Phases", host: "Main thread", communication: "Communication" },
    device: (id: number) => `GPU ${id}`,
    devices: (shown: number, all: number) =>
      `${shown} of ${all} devices: those that worked longest.`,
    pin: (number: number, title: string) => `${number}. ${title}`,
    lane: "Lane",
    part: "Part",
    at: "Since the beginning of the step",
    duration: "Duration",
    share: "Share of the step",
    merged: "Merged intervals",
  },

  kinds: {
    title: "Kinds of steps",
    help: "Steps are of one kind if they run the same program: if all or none of them have a backward pass, and at least half of the operators and kernels of one also run in the other. How long they take does not matter. A step range at the top shows the steps of one kind alone, if no others lie between them.",
    short: (n: number) => `The steps are of ${n} kinds: means on this page are over all of them.`,
    line: (n: number) =>
      `The steps run different programs. All means on this page are over ${n} kinds of steps, which take:`,
    kind: "Kind",
    count: "Steps",
    range: "Step range",
    rangeHelp: "The first and the last step of the kind, if no others lie between them.",
    fromTo: (from: string, to: string) => `${from} to ${to}`,
    mean: "Mean",
    median: "Median",
    shareHelp: "The share of the average step of the kind.",
    numbered: (name: string, number: number) => `${name} ${number}`,
    labelled: (label: string, name: string) => `${label} (${name})`,
    names: {
      training: "training",
      without_backward: "without backward pass",
      validation: "validation",
      prefill: "prefill",
      decode: "decode",
      mixed: "mixed",
      draft: "draft",
      verify: "verify",
      encode: "encode",
      denoise: "denoise",
      decode_image: "decode image",
      other: "program",
    },
  },

  waterfall: {
    title: "Where does the step time go?",
    help: "The average step, as the mean over the devices that ran kernels. Each moment counts once: as compute (by kind of kernel), otherwise as communication, otherwise as a copy, otherwise as idle time (by what the device waits for). The parts add up exactly to the step time.",
    helpHost:
      "The average step on the main thread, by what it does at each moment. The parts add up exactly to the step time.",
    cause: "Part",
    time: "Time",
    share: "Share",
    total: "Average step",
    others: (n: number) => counted(n, "smaller part"),
    baseline: "Baseline",
    dashed: "Dashed outlines: the baseline.",
    none: "No steps were found in this trace.",
    remedy: "prof.step()  # at the end of each iteration",
  },

  pieces: {
    title: (part: string) => `Where: ${part}`,
    close: "Close",
    shown: (n: number, all: number, time: string) =>
      `${n === all ? `All ${n}` : `The ${n} longest of ${all}`} intervals; ${time} in total over all steps. Click a time to see it in the Trace view.`,
    duration: "Time",
    step: "Step",
    where: "Where",
    host: "Host was running",
    line: "Line or module",
    owner: "Launched by",
    work: "Ended by",
  },

  tiles: {
    step: "Step time",
    average: "Average step time",
    steps: (n: string) => counted(n, "step"),
    oneStep: "1 step",
    p50: "p50",
    p95: "p95",
    max: "max",
    busy: "Device busy",
    computing: "Computing",
    exposed: "Exposed communication",
    sm: "SM efficiency",
    occupancy: "Occupancy",
    tensor: "Tensor cores",
    device: (id: number) => `GPU ${id}`,
    devices: (n: number) => `average of ${counted(n, "GPU")}`,
    ofStep: "of the average step",
    knownOf: (share: string) => `estimated; known for ${share} of the compute time`,
    notKnown: "not computed by the profiler",
    unknownOf: (share: string) => `${share} unknown`,
    notInNames: "unknown: the names of the kernels do not show it",
    estimated: "estimated",
    notRecorded: "not recorded",
  },

  stepChoice: {
    foundBy: "Steps found by",
    count: (n: string) => counted(n, "step"),
    label: (n: string, rule: string) => `${counted(n, "step")} (${rule})`,
    choose: "Find steps by",
    automatic: "the first rule that fits",
    /** As choices; how they were found is in `stepRules`. */
    rules: {
      profiler_step: "ProfilerStep marks",
      inference_engine: "Inference engine (vLLM, SGLang, xDiT)",
      training_framework: "Training framework (Lightning, Transformers, MMEngine)",
      repeated_annotation: "A repeated annotation",
      optimizer: "Optimizer steps",
      repeated_module: "Model calls",
      repeated_kernels: "A repeated sequence of kernels",
      whole_trace: "The whole trace as one step",
    },
    pattern: "A pattern of annotation names…",
    patternLabel: "Pattern",
    patternHint: "A regular expression, for example ^decode",
    apply: "Apply",
    invalid: (reason: string) => `This is not a regular expression: ${reason}`,
    notFound: "The chosen rule finds no steps in this trace.",
  },

  breakdown: {
    title: "Step Time Breakdown",
    help: "The wall time of each step, divided so that each moment counts for one category. If several overlap, the first in this list counts, so the categories add up to the step:",
    absolute: "Absolute",
    percent: "Percent",
    mode: "Scale",
    step: "Step",
    label: "Annotation",
    empty: "No steps were found in this trace.",
    wholeTrace: "The trace has no step marks; it is shown as one step.",
    remedy: "prof.step()  # at the end of each iteration",
  },

  average: {
    title: "Execution Summary",
    help: "How the average step is spent. The percentages refer to the average step time.",
    category: "Category",
    time: "Time",
    share: "Share",
    total: "Average step time",
    chart: "Average step by category",
  },

  findings: {
    title: "What costs time, and what to do?",
    help: "Causes of lost time, ordered by how much each saves beyond those above it; general ones come last. A saving is how much shorter the average step would be, computed by replaying the trace without the cause. Each saving assumes that the ones above it are already fixed, so they add up.",
    none: "None of the rules that could be checked found a cause of lost time in this trace.",
    atMost: (time: string, share: string) => `at most ${time} per step (${share})`,
    about: (time: string, share: string) => `about ${time} per step (${share})`,
    afterAbove: "after those above",
    savingHelp: (alone: string, low: string, high: string) =>
      `Alone: ${alone}${low && high ? `. Interval over the steps: ${low} to ${high}` : ""}`,
    refused: "saving unknown",
    noSaving: "no additional saving",
    severity: { high: "High", medium: "Medium", low: "Low", info: "Info" },
    confidence: { low: "low confidence", medium: "medium confidence" },
    where: ({ text }: Place) => text,
    partHere: (share: string) => `(${share} of this finding is here)`,
    noLine: (setting: string) => `(${setting}=True records the line)`,
    places: (shown: number, all: number) =>
      shown === all ? "Where:" : `${shown} of ${all} places:`,
    place: (time: string, step: string | null) => (step === null ? time : `${time} (step ${step})`),
    markAll: (view: string) => `Mark all in ${view}`,
    top: "Most important findings",
    takes: (share: string) => `${share} of the step, saving unknown`,
    details: "Details",
    detailsOf: (title: string) => `Details: ${title}`,
    more: (n: number) => counted(n, "more finding"),
    hide: "Hide",
    hidden: (ids: string) => `Hidden: ${ids}.`,
    showHidden: "Show all",
    mutedByServer: (ids: string) => `Not shown on this server: ${ids}.`,
    checked: (n: number) => `${counted(n, "rule")} found nothing`,
    notEvaluated: (n: number) => `${counted(n, "rule")} could not be checked`,
    notLookedAt: (parts: string) => `No finding is about: ${parts}.`,
  },

  devices: {
    title: "GPU Summary",
    help: "Properties and average use of each GPU over the trace.",
    name: "Name",
    memory: "Memory",
    capability: "Compute capability",
    busy: "Device busy",
    computing: "Computing",
    communicating: "Communicating",
    exposed: "Exposed communication",
    sm: "Est. SM efficiency",
    occupancy: "Est. achieved occupancy",
    known: "Occupancy known",
    tensor: "Tensor cores used",
    tensorUnknown: "Tensor cores unknown",
    unknown: "unknown device",
  },

  configuration: {
    title: "Configuration",
    workers: "Traces",
    deviceType: "Device type",
    steps: "Steps",
    devices: "Devices",
    more: (view: string) => `How it was recorded: ${view}`,
  },

  top: {
    operators: "Top operators",
    operatorsHelp: "The operators with the most self time (without the operators that they call).",
    device: (steps: string) => `device self time over ${counted(steps, "step")}`,
    host: (steps: string) => `host self time over ${counted(steps, "step")}`,
    kernels: "Top kernels",
    kernelsHelp: "The kernels with the longest total time on the device.",
    total: (steps: string) => `total time over ${counted(steps, "step")}`,
    all: (view: string) => `All in ${view}`,
    noKernels: "No kernels were recorded.",
    kernelRemedy: "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",
    noOperators: "No operators were recorded.",
    operatorRemedy: "activities=[ProfilerActivity.CPU]",
  },
});

/** What a category of step time is called. */
export function categoryName(category: string): string {
  const names: Readonly<Record<string, string>> = overview.categories;
  return names[category] ?? category;
}

interface StepKind {
  readonly id: keyof typeof overview.kinds.names;
  readonly label: string | null;
  readonly number: number | null;
}

/** What a kind of steps is called. */
export function stepKindName({ id, label, number }: StepKind): string {
  const text = overview.kinds;
  const known = text.names[id];
  const name = label === null ? known : id === "other" ? label : text.labelled(label, known);
  return number === null ? name : text.numbered(name, number);
}
