import { counted } from "../counted";
import { area } from "../translation";

export const program = area("program", {
  question: "What the step did",
  questionHelp:
    "The average step by phase. Phases are recognized by ranges that the user, torch or a framework named, by autograd nodes, Python frames and modules; the rest is inferred from operators.",
  sentence: (phase: string, share: string, step: string, isMost: boolean) =>
    `${phase} takes ${isMost ? "most" : "the largest part"} of the average step: ${share} of ${step}.`,
  mostlyNoPhase: (share: string, step: string, phase: string, itsShare: string) =>
    `${share} of the average step of ${step} is in no known phase. Of the phases ${phase} takes most: ${itsShare}.`,
  noPhase: (step: string) => `No part of the average step (${step}) could be assigned to a phase.`,
  recomputes: (share: string) =>
    `${share} of the backward pass recomputes what the forward pass did not keep.`,
  accumulates: (passes: string) => `Each step has ${passes} backward passes.`,
  inferred: (share: string) => `${share} of the host time is inferred: no range or frame marks it.`,
  none: "No steps",
  noneReason: "Nothing in this trace has a duration on the host.",
  noneRemedy: "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
  average: "Phases of the average step",
  steps: "Each step by phase",
  step: "Step",
  time: "Time",
  times: {
    exposed: {
      name: "Exposed",
      help: "Share of the step: while devices work, the phase of the running work that was launched first; otherwise the phase of the main thread. The phases add up exactly to the step.",
    },
    host: {
      name: "Host",
      help: "Time of the main thread within the step's annotation. The phases add up exactly to it.",
    },
    device: {
      name: "Device",
      help: "Sum of the durations of the device work that the phase launched; overlapping work counts each time.",
    },
  },
  phase: "Phase",
  share: "Share",
  shareHelp: "Exposed time ÷ average step.",
  inferredName: "Inferred",
  inferredHelp: "Part of its host time that no range, frame or autograd node marks.",
  communication: "Exposed communication",
  communicationHelp: "Part of its exposed time in which a collective runs and no compute kernel.",
  allocated: "Allocated",
  allocatedHelp: "Sum of its allocations over all steps.",
  phaseHelp: {
    data: "Loading, waiting for and copying batches.",
    forward: "The model.",
    loss: "The loss, outside the model.",
    backward: "The backward pass, without recomputation.",
    recompute: "Part of the backward pass: activations that were not kept are computed again.",
    optimizer: "The optimizer, clipping of gradients, the scheduler of the learning rate.",
    zero_grad: "Setting gradients to zero or None.",
    validation: "The model on validation batches, as shown by names.",
    logging: "Metrics, logs and checkpoints that the program writes.",
    schedule: "Choosing what the next step of inference computes.",
    prefill: "Steps that read prompts.",
    decode: "Steps that generate tokens.",
    mixed: "Steps that read prompts and generate tokens.",
    draft: "The draft model of speculative decoding.",
    verify: "The model that verifies draft tokens.",
    sample: "Choosing tokens.",
    encode: "The text encoder.",
    denoise: "Calls of the denoising model.",
    decode_image: "The image decoder.",
    compile: "torch.compile, Inductor or Triton compile.",
    capture: "Calls that are captured into a graph and run nothing.",
    other: "Work whose purpose was not recorded.",
    no_launch: "Device work whose launch is not in the trace.",
  },
  peak: (device: string, size: string, phase: string) =>
    `Memory of ${device} peaks at ${size} in ${phase}.`,
  linked: (share: string) =>
    `For ${share} of the backward pass the forward operator is known; Stacks can show it there.`,
  unlinked: {
    script: (share: string) => `${share} is TorchScript, which records no sequence numbers.`,
    no_number: (share: string) => `${share} has no sequence number.`,
    no_forward: (share: string) => `The forward of ${share} is not in the trace.`,
  },
  stretches: (phase: string) => `The longest intervals: ${phase}`,
  noStretches: "None begins within the steps on the main thread.",
  stretch: (time: string, step: string) => `${time} in step ${step}, in the trace`,
  passes: "Backward passes and optimizers",
  passesHelp:
    "A backward pass with the data, forward and loss since the one before it; several in a step are gradient accumulation or several losses.",
  passesCaption: (shown: number, total: number) =>
    shown === total ? "Backward passes" : `The first ${shown} of ${total} backward passes`,
  optimizers: "Optimizers",

  inference: "Inference",
  inferenceHelp:
    "Inference steps by phase, recognized by the names that engines write, the program's own ranges, calls of a language model, or token look-ups.",
  engine: (kind: string, how: string) => `Steps of ${kind}, found by ${how}.`,
  engines: {
    vllm: "vLLM",
    sglang: "SGLang",
    atom: "ATOM",
    tensorrt_llm: "TensorRT-LLM",
    xdit: "xDiT",
    loop: "a custom loop",
    model: "a language model",
    diffusion: "a diffusion pipeline",
  },
  hows: {
    names: "the names that an engine writes",
    ranges: "named ranges",
    modules: "model calls",
    embedding: "token look-ups",
    stages: "the stages of the pipeline",
  },
  unknown: "unknown",
  steps_: (steps: number) => counted(steps, "step"),
  period: "step to step",
  tokens: "tokens",
  requests: "requests",
  tpot: "Time per output token",
  tpotHelp:
    "Mean time from the start of a generating step to the start of the next, weighted by its requests where they are known. Unknown with speculative decoding: how many draft tokens are accepted is not recorded.",
  rate: "Tokens per second",
  rateHelp: "Generated tokens ÷ time from the first step to the last.",
  gaps: "Between steps",
  gapsHelp: "Host time from the end of a step to the start of the next, over all steps.",
  gapKinds: {
    sample: "sampling",
    schedule: "scheduling",
    detokenise: "detokenizing",
    wait: "waiting",
    other: "other",
  },
  inGraphs: "In graphs",
  inGraphsHelp: "Share of the device time of the steps that ran in graph replays.",
  families: "Kinds of kernels by phase",
  otherKinds: "others",
  engineSteps: (shown: number, total: number) =>
    shown === total ? "Steps of inference" : `The first ${shown} of ${total} steps of inference`,

  ranges: "Ranges that the program names",
  rangesHelp:
    "Every record_function and every range of torch and frameworks, nested. Digits, addresses and keys that differ from call to call are shown as ….",
  noRanges: "No named ranges",
  noRangesReason: "No range of the user, of torch or of a framework was recorded in the steps.",
  noRangesRemedy: 'with torch.profiler.record_function("forward"): …',
  calls: (name: string) => `The longest calls: ${name}`,

  compiled: "Compiled code",
  compiledHelp: "What torch.compile compiled and ran, and what stayed eager.",
  inRegions: "In compiled regions",
  inRegionsHelp: "Host time of calls of compiled code that are in no other compiled code.",
  regionCalls: "calls",
  compiling: "Compiling",
  compilingHelp: "Time in which torch.compile, Inductor or Triton compiled, in the steps.",
  compilations: "compilations",
  again: "again",
  breaks: "Graph breaks",
  breaksHelp:
    "How often a call of compiled code continues in other compiled code; with Python frames, at which function and line. A break in a loop makes the whole frame run eagerly and is not counted.",
  eager: (shown: number, all: number) =>
    `Eager remainder: operators outside compiled code${shown < all ? `, the first ${shown} of ${all}` : ""}`,
  remainder: "Eager remainder",
  remainderHelp: "Device work that was launched outside compiled code.",
  insideDevice: "inside",
  guards: "Checking guards",
  guardsHelp: "Looking for compiled code that fits the inputs.",
  why: "Profiler traces do not contain the reasons of recompilations and graph breaks: run the program with TORCH_LOGS=recompiles,graph_breaks.",
  regions: "Regions",
  compilationRows: "Compilations",
  kernels: "Generated kernels",

  graphs: "Replayed graphs",
  graphsHelp:
    "CUDA and HIP graphs: replays that run the same nodes in the same order are one graph. Nodes belong to the operators of their capture where it was recorded.",
  replayed: (time: string, share: string) =>
    `Graph replays take ${time} of the device time (${share}); the rest ran outside graphs.`,
  graphRows: "Graphs",
  graph: (number: string) => `Graph ${number}`,
  inTrace: "In the trace",
  nodes: "Nodes, the same over all replays",
  captures: "Captures",
  graphGaps: (shown: number, all: number) =>
    `Gaps in and between replays${shown < all ? `, the longest ${shown} of ${all}` : ""}`,
  graphGapsOf: (graph: string, shown: number, all: number) =>
    `Gaps in replays of graph ${graph} and after them${shown < all ? `, the longest ${shown} of ${all}` : ""}`,
  gapPlaces: { inside: "inside", between: "between" },
  longest: (list: string, time: string) => `${list}: up to ${time}`,
  fellOut: (shown: number, all: number) =>
    `Outside graphs: device work that no replay ran${shown < all ? `, the longest ${shown} of ${all}` : ""}`,
});
