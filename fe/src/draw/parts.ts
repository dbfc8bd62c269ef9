/**
 * The colours of the parts of a step: of what devices and the host did, of the causes of idle time, of what held up the
 * critical path. The one owner of them: a cause has the same colour in a bar, in a legend and on a lane.
 */
import { bare, byEnd, partIn, partsTexts } from "../i18n";
import "./parts.css";
import type { ChartColor } from "./theme";

/** Custom properties of `parts.css`, without `--part-`, and what they are where no style sheet is. */
const COLORS = {
  compute: "#0072b2",
  "compute-2": "#004c86",
  "compute-3": "#3c8fd1",
  "compute-4": "#5a6fc0",
  "compute-5": "#23a0b5",
  communication: "#cc79a7",
  copy: "#56b4e9",
  operator: "#009e73",
  python: "#8fbf4d",
  input: "#d55e00",
  launch: "#e69f00",
  "launch-2": "#a86400",
  api: "#f0c878",
  latency: "#d3bc1b",
  sync: "#882255",
  "sync-2": "#cc6677",
  allocator: "#a65bd0",
  compile: "#8c8a2f",
  dependency: "#4b3fa8",
  "dependency-2": "#9a86d8",
  gap: "#44aa99",
  "hand-over": "#c9b36a",
  profiler: "#a0684a",
  unknown: "#9aa3ae",
} as const;

/** What the ids of phases begin with, where other parts of a step stand, too. */
const PHASE = "phase.";

type PartColor = keyof typeof COLORS;

/** All colours, in the order of `partNumber`. */
export const PART_COLORS = Object.keys(COLORS) as readonly PartColor[];

/** By the id of a part, or the end of one. */
const OF_PART: Readonly<Record<string, PartColor>> = bare({
  // devices
  compute: "compute",
  gemm: "compute",
  gemm_helper: "compute",
  gemv: "compute",
  attention: "compute-2",
  attention_helper: "compute-2",
  linear_attention: "compute-2",
  conv: "compute-4",
  conv_helper: "compute-4",
  pointwise: "compute-3",
  activation: "compute-3",
  optimizer: "compute-3",
  norm: "compute-5",
  softmax: "compute-5",
  reduction: "compute-5",
  communication: "communication",
  exposed_communication: "communication",
  collective: "communication",
  copy: "copy",
  "compute.copy": "compute-3",
  "compute.communication": "communication",
  exposed_copy: "copy",
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
  // what a program does
  "phase.data": "input",
  "phase.forward": "compute",
  "phase.loss": "compute-5",
  "phase.backward": "sync",
  "phase.recompute": "sync-2",
  "phase.optimizer": "operator",
  "phase.zero_grad": "copy",
  "phase.validation": "dependency",
  "phase.logging": "python",
  "phase.schedule": "hand-over",
  "phase.prefill": "launch",
  "phase.decode": "compute",
  "phase.mixed": "latency",
  "phase.draft": "dependency-2",
  "phase.verify": "dependency",
  "phase.sample": "gap",
  "phase.encode": "launch",
  "phase.denoise": "compute",
  "phase.decode_image": "gap",
  "phase.compile": "compile",
  "phase.capture": "allocator",
  "phase.other": "unknown",
  "phase.no_launch": "profiler",
});

/**
 * The colour of a part by its id, such as `idle.host.operator` or `host.data`: of the longest end of it that has one, else
 * of what stands before it, so that `compute.sampler` has that of `compute`.
 */
export function partColor(id: string): ChartColor {
  const name = partColorName(id);
  return `var(--part-${name}, ${COLORS[name]})`;
}

/** The colour of a kernel by its kind, such as `gemm` or `communication + norm`, as among the parts of a step. */
export function kernelColor(kind: string | null): ChartColor {
  const [first = ""] = (kind ?? "").split(" + ");
  return partColor(first === "communication" ? first : `compute.${first.replaceAll(" ", "_")}`);
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
  return byEnd(id, OF_PART) ?? "unknown";
}
