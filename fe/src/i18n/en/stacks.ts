import { counted } from "../counted";
import { area } from "../translation";

export const stacks = area("stacks", {
  title: "Call stacks",
  help: `A stack is everything that runs on a thread at a given time: Python functions, modules, annotations and operators, the outermost first. Stacks with the same names are merged into one box, over all threads and steps.

Host: time on the host. Device: time of the kernels, copies and fills, shown below the stack that launched them.

Top-down: from callers to callees, in order of appearance. Left heavy: the same with the largest box on the left. Bottom-up: from where the time was spent to its callers.`,
  weight: "Weight",
  weights: { device: "Device time", host: "Host time" },
  mode: "Order",
  modes: { top_down: "Top-down", left_heavy: "Left heavy", bottom_up: "Bottom-up" },
  backward: "Backward",
  backwards: { as_run: "Backward as it ran", with_forward: "Backward with its forward" },
  show: "Show as",
  shows: { flame: "Flame graph", table: "Table" },
  filter: "Call stacks",

  thread: {
    label: "Thread",
    all: "All threads",
    idle: "idle",
    of: (name: string, time: string) => `${name} (${time})`,
  },

  files: "Files",
  filesHint: "e.g. train.py  or  -site-packages",
  filesHelp: `Only frames of files whose path contains one of these words are shown; words after a minus leave files out. The time of other frames is added to what is around them. Modules, annotations, operators and device work are always kept.`,

  whole: (weight: string, time: string, entries: string, thread: string) =>
    `${weight} ${time} in ${counted(entries, "different stack")}, ${thread}`,
  most: (weight: string) => `Largest self time (${weight.toLowerCase()}): `,
  mostTakes: (time: string, share: string) => ` (${time}, ${share} of all).`,
  noStack: (time: string, share: string) => `${time} (${share}) launched outside any stack`,
  noStackHelpTitle: "device time outside any stack",
  noStackHelp:
    "Device work that was launched while no Python function, operator or annotation ran, for example by CUDA graphs, or before the recording began. It is at the top, below the name of the API call.",
  folded: (time: string) =>
    `Boxes below ${time} are merged into “(smaller)”. Zoom in to see them one by one.`,
  threads: "all threads together",

  share: "% total",
  shareHelp: "Total of the entry divided by the time of all stacks.",

  empty: "No call stacks in this trace",
  emptyReason: "It has no Python functions, operators or annotations with time of this kind.",
  emptyRemedy: "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True)",
  gone: "The box this link zooms into is not in this trace. Everything is shown.",

  tooltip: {
    total: "Total",
    self: "Self",
    calls: "Calls",
    folded: "Entries",
  },
  spoken: (name: string, kind: string, time: string, share: string) =>
    `${name}, ${kind}: ${time}, ${share}`,

  details: "Selected frame",
  detailsNone: "Click a box to zoom in and to see its numbers here.",
  inspect: {
    op: "Operator in the inspector",
    kernel: "Kernel in the inspector",
    mod: "Module in the inspector",
    step: "Step in the inspector",
  },
  detailsNoneTable: "Choose a row to see its numbers here.",
  zoom: "Zoom into it",
  open: (place: string) => `Open ${place} in the editor`,
  copy: (place: string) => `Copy ${place}`,
  copied: "Copied",
});
