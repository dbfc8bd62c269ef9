/**
 * The colours of the parts of a step: of what devices and the host did, of the causes of idle time, of what held up the
 * critical path. The one owner of them: a cause has the same colour in a bar, in a legend and on a lane.
 */
import { bare, byEnd, partIn, partsTexts } from "../i18n";
import "./parts.css";
import type { ChartColor } from "./theme";

/** Custom properties of `parts.css`, without `--part-`, in the order of `partNumber`. */
export const PART_COLORS = [
  "compute",
  "matmul",
  "attention",
  "norm",
  "pointwise",
  "layout",
  "kernel",
  "communication",
  "copy",
  "fill",
  "operator",
  "python",
  "input",
  "launch",
  "launch-2",
  "api",
  "latency",
  "sync",
  "sync-2",
  "allocator",
  "compile",
  "dependency",
  "dependency-2",
  "gap",
  "hand-over",
  "profiler",
  "unknown",
  "forward",
  "backward",
  "loss",
  "optimizer",
  "recompute",
  "zero-grad",
  "validation",
  "memory",
  "memory-gradient",
  "memory-state",
  "memory-forward",
  "memory-backward",
  "memory-optimizer",
  "memory-kept",
] as const;
/** Kinds of kernels by what they are drawn as: families that are told apart. */
const FAMILIES = {
  matmul: ["gemm", "gemm_helper", "gemv", "conv", "conv_helper", "linear_algebra"],
  attention: ["attention", "attention_helper", "linear_attention", "rotary", "kv_cache"],
  norm: ["norm", "softmax", "reduction", "loss", "pooling"],
  pointwise: ["pointwise", "activation", "optimizer", "quantize", "random"],
  layout: ["layout", "concatenate", "index", "embedding", "sort"],
  copy: ["copy"],
  fill: ["fill"],
} as const satisfies Partial<Record<PartColor, readonly string[]>>;
/** What their ids begin with; those of no family are drawn as other kernels. */
const COMPUTE = "compute.";

/** What the ids of phases begin with, where other parts of a step stand, too. */
const PHASE = "phase.";

type PartColor = (typeof PART_COLORS)[number];

/** By the id of a part, or the end of one. */
const OF_PART: Readonly<Record<string, PartColor>> = bare({
  // devices
  compute: "compute",
  ...Object.fromEntries(
    (Object.keys(FAMILIES) as (keyof typeof FAMILIES)[]).flatMap((family) =>
      FAMILIES[family].map((kind) => [COMPUTE + kind, family]),
    ),
  ),
  communication: "communication",
  exposed_communication: "communication",
  collective: "communication",
  copy: "copy",
  "compute.communication": "communication",
  exposed_copy: "copy",
  fill: "fill",
  // the host
  python: "python",
  gc: "python",
  operator: "operator",
  host: "operator",
  data: "input",
  input: "input",
  launch: "launch",
  slow_launch: "launch-2",
  api: "api",
  blocking: "sync",
  sync: "sync",
  "sync.relaunch": "sync-2",
  allocator: "allocator",
  compile: "compile",
  // between pieces of work
  launch_latency: "latency",
  device_gap: "gap",
  dependency: "dependency",
  "dependency.communication": "dependency-2",
  wake_up: "sync-2",
  hand_over: "hand-over",
  profiler: "profiler",
  unexplained: "unknown",
  unknown: "unknown",
  fixed: "unknown",
  // what memory is for
  "memory.in_use": "memory",
  "memory.saved_for_backward": "memory",
  "memory.gradient": "memory-gradient",
  "memory.optimizer_state": "memory-state",
  "memory.forward_temporary": "memory-forward",
  "memory.backward_temporary": "memory-backward",
  "memory.optimizer_temporary": "memory-optimizer",
  "memory.kept_from_forward": "memory-kept",
  "memory.before_recording": "unknown",
  // what a program does
  "phase.data": "input",
  "phase.forward": "forward",
  "phase.loss": "loss",
  "phase.backward": "backward",
  "phase.recompute": "recompute",
  "phase.optimizer": "optimizer",
  "phase.zero_grad": "zero-grad",
  "phase.validation": "validation",
  "phase.logging": "python",
  "phase.schedule": "hand-over",
  "phase.prefill": "loss",
  "phase.decode": "forward",
  "phase.mixed": "zero-grad",
  "phase.draft": "recompute",
  "phase.verify": "validation",
  "phase.sample": "optimizer",
  "phase.encode": "loss",
  "phase.denoise": "forward",
  "phase.decode_image": "optimizer",
  "phase.compile": "compile",
  "phase.capture": "allocator",
  "phase.other": "unknown",
  "phase.no_launch": "profiler",
});

/**
 * The colour of a part by its id, such as `idle.host.operator` or `host.data`: of the longest end of it that has one, else
 * of what stands before it, so that `idle.launch_latency.graph` has that of `launch_latency`.
 */
export function partColor(id: string): ChartColor {
  return `var(--part-${partColorName(id)})`;
}

/** The colour of a kernel by its kind, such as `gemm` or `communication + norm`: that of its family. */
export function kernelColor(kind: string | null): ChartColor {
  const [first = ""] = (kind ?? "").split(" + ");
  return partColor(COMPUTE + first.replaceAll(" ", "_"));
}

/** The colour of an operator: that of communication, else none of its own. */
export function operatorColor(isCommunication: boolean): ChartColor | undefined {
  return isCommunication ? partColor("communication") : undefined;
}

/** Its place in PART_COLORS. */
export function partNumber(id: string): number {
  return PART_COLORS.indexOf(partColorName(id));
}

/** The custom property of a colour. */
export function partProperty(name: PartColor): string {
  return `--part-${name}`;
}

/** The name of a part by its id, for people. */
export function partName(id: string): string {
  if (id.startsWith(PHASE)) return phaseName(id.slice(PHASE.length));
  return partIn(partsTexts, id);
}

/** The id of a part, by that of a phase of the program. */
export const phasePart = (phase: string): string => PHASE + phase;

/** The name of a phase by its id. */
export function phaseName(phase: string): string {
  return (partsTexts.phases as Readonly<Record<string, string>>)[phase] ?? phase;
}

/** The colour of a part, by the name that `partProperty` takes. */
export function partColorName(id: string): PartColor {
  if (id.startsWith(COMPUTE)) return OF_PART[id] ?? "kernel";
  return byEnd(id, OF_PART) ?? "unknown";
}
