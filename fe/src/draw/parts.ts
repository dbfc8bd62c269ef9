/**
 * The colours of the parts of a step: of what devices and the host did, of the causes of idle time, of what held up the
 * critical path. The one owner of them: a cause has the same colour in a bar, in a legend and on a lane.
 */
import { partsTexts } from "../i18n";
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
  latency: "#d3bc1b",
  sync: "#882255",
  allocator: "#a65bd0",
  compile: "#8c8a2f",
  dependency: "#4b3fa8",
  gap: "#44aa99",
  profiler: "#a0684a",
  unknown: "#9aa3ae",
} as const;

type PartColor = keyof typeof COLORS;

/** All colours, in the order of `partNumber`. */
export const PART_COLORS = Object.keys(COLORS) as readonly PartColor[];

/** By the last word of a part's id that is known here. */
const OF_PART: Readonly<Record<string, PartColor>> = {
  // devices
  compute: "compute",
  gemm: "compute",
  attention: "compute-2",
  convolution: "compute-4",
  elementwise: "compute-3",
  reduction: "compute-5",
  communication: "communication",
  exposed_communication: "communication",
  collective: "communication",
  copy: "copy",
  exposed_copy: "copy",
  // the host
  python: "python",
  gc: "python",
  operator: "operator",
  host: "operator",
  data: "input",
  input: "input",
  launch: "launch",
  slow_launch: "launch",
  api: "launch",
  blocking: "sync",
  sync: "sync",
  allocator: "allocator",
  compile: "compile",
  // between pieces of work
  launch_latency: "latency",
  device_gap: "gap",
  dependency: "dependency",
  communication_dependency: "dependency",
  wake_up: "sync",
  hand_over: "gap",
  profiler: "profiler",
  unexplained: "unknown",
  unknown: "unknown",
  fixed: "unknown",
};

/** The colour of a part by its id, such as `idle.host.operator`: of its last word that has one, else that of "unknown". */
export function partColor(id: string): ChartColor {
  const name = colorName(id);
  return `var(--part-${name}, ${COLORS[name]})`;
}

/** Its place in PART_COLORS. */
export function partNumber(id: string): number {
  return PART_COLORS.indexOf(colorName(id));
}

/** The custom property of a colour. */
export function partProperty(name: PartColor): string {
  return `--part-${name}`;
}

/** The name of a part by its id, for people. */
export function partName(id: string): string {
  for (const word of id.split(".").toReversed()) {
    const found = partsTexts.names[word];
    if (found) return found;
  }
  return id;
}

function colorName(id: string): PartColor {
  for (const word of id.split(".").toReversed()) {
    const found = OF_PART[word];
    if (found) return found;
  }
  return "unknown";
}
