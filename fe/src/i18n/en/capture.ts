import { counted } from "../counted";
import { area } from "../translation";

type Severity = "error" | "warning" | "info";

/** What was recorded, and how. */
export const capture = area("capture", {
  sentence: (steps: number, events: string, time: string) =>
    `${counted(steps, "step")} and ${events} events were recorded over ${time}.`,
  noted: (notes: number) =>
    notes === 0
      ? "Nothing unusual was noticed."
      : `${counted(notes, "note")} on trace health below.`,

  recording: {
    title: "Recording",
    file: "File",
    size: "Size of the file",
    text: "Uncompressed",
    events: "Events",
    recordedAt: "Recorded",
    unknownTime: "the file does not say when",
    range: "Time range",
    rangeHelp: "From the first event to the end of the last",
    tracks: "Tracks",
    tracksHelp: "Host threads and device streams with events",
    steps: "Steps",
    stepsFound: (n: string, rule: string) => `${n}, found by ${rule}`,
    deviceType: "Device type",
    host: "Host",
    unknownHost: "not named in the file",
  },

  categories: {
    title: "Events by category",
    help: "How many events of each kind the file contains. The spellings of all versions of the profiler are mapped to one vocabulary.",
    names: {
      other: "Other",
      operator: "Operators",
      user_annotation: "Annotations",
      python_function: "Python functions",
      runtime: "Runtime calls",
      driver: "Driver calls",
      kernel: "Kernels",
      memcpy: "Memcpy",
      memset: "Memset",
      gpu_user_annotation: "Annotations on the device",
      sync: "Synchronization",
      overhead: "Profiler overhead",
      memory: "Allocations and releases",
      flow_launch: "Arrows: launch to device work",
      flow_forward_backward: "Arrows: forward to backward",
      span: "Recording windows",
      metadata: "Names of threads and streams",
      counter: "Counters",
    },
  },

  options: {
    title: "Profiler options",
    help: "Which parts of a recording this trace has, and the line of code that records the missing ones. A part counts as found when its events are there, whether or not the header names the option.",
    option: "Option",
    state: "In this trace",
    adds: "What it records",
    enable: "How to record it",
    states: { found: "found", empty: "switched on, nothing recorded", missing: "not found" },
    events: (n: string) => counted(n, "event"),
    names: {
      cpu: "CPU activity",
      device: "Device activity",
      steps: "Steps",
      record_shapes: "record_shapes",
      with_stack: "with_stack",
      profile_memory: "profile_memory",
      with_modules: "with_modules",
      with_flops: "with_flops",
    },
    about: {
      cpu: "Operators and annotations on the host",
      device: "Kernels, copies and sets on the device",
      steps: "Where one iteration ends and the next begins",
      record_shapes: "Shapes, types and strides of the inputs of each operator",
      with_stack: "Python functions and calls of modules, or a call stack per operator",
      profile_memory: "Each allocation and release, with totals",
      with_modules: "Only a flag in the header: module calls are recorded by with_stack",
      with_flops: "Only a flag in the header: FLOP counts are not written to the file",
    },
    code: {
      cpu: "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
      device: "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
      steps: "prof.step()  # at the end of each iteration",
      record_shapes: "profile(record_shapes=True)",
      with_stack: "profile(with_stack=True)",
      profile_memory: "profile(profile_memory=True)",
      with_modules: "profile(with_modules=True, with_stack=True)",
      with_flops: "profile(with_flops=True)",
    },
  },

  versions: {
    title: "Versions",
    names: {
      schemaVersion: "Format of the file",
      cuda_runtime_version: "CUDA runtime",
      cuda_driver_version: "CUDA supported by the driver",
      cupti_version: "CUPTI",
      hip_runtime_version: "HIP runtime",
      hip_driver_version: "HIP driver",
      roctracer_version: "roctracer",
    },
    none: "The file names no versions.",
  },

  distributed: {
    title: "Distributed",
    rank: "Rank",
    worldSize: "World size",
    backend: "Backend",
    groups: "Process groups",
    unknown: "not named in the file",
    none: "The file does not say that it belongs to a job of several ranks. In a distributed job, initialize the process group before the recording starts.",
    remedy: "torch.distributed.init_process_group()",
  },

  devices: {
    title: "Devices",
    help: "The devices of the machine as the file lists them, and those with work in this trace.",
    id: "Device",
    name: "Name",
    memory: "Memory",
    capability: "Compute capability",
    used: "Work in this trace",
    yes: "yes",
    no: "no",
    unknown: "unknown device",
    none: "The file lists no devices, and none did any work.",
  },

  health: {
    title: "Notes",
    help: "What was repaired, left out or is missing, and which views it affects. Offsets are in bytes of the uncompressed text.",
    none: "Nothing unusual was noticed in this trace.",
    count: (n: string) => (n === "1" ? "once" : `${n} times`),
    offset: (bytes: string) => `first at byte ${bytes}`,
    touches: "Affects",
    summary: (counts: readonly (readonly [Severity, number])[]) =>
      counts.map(([severity, n]) => SEVERITIES[severity](n)).join(", "),
  },

  log: {
    title: "Log of the profiler",
    help: "What the profiler itself logged while it recorded, as far as the file contains it.",
    lines: {
      error: (n: number) => counted(n, "error"),
      warning: (n: number) => counted(n, "warning"),
      info: (n: number) => counted(n, "other line"),
    },
  },

  metadata: {
    title: "Other entries of the header",
    help: "What else the file says about itself, such as what the program added with profiler.add_metadata.",
  },

  files: {
    title: "Files",
    help: "The files of this run, and files that look like traces but were skipped, with the reason.",
  },
});

const SEVERITIES: Record<Severity, (n: number) => string> = {
  error: (n) => counted(n, "error"),
  warning: (n) => counted(n, "warning"),
  info: (n) => counted(n, "note"),
};
