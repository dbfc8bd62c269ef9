import { counted } from "../counted";
import { area } from "../translation";

export const operators = area("operators", {
  metrics: {
    device_self: "Device self time",
    device_total: "Device total time",
    host_self: "Host self time",
    host_total: "Host total time",
    api_self: "Blocked in API",
  },
  sentence: (name: string, metric: string, time: string, share: string) =>
    `${name} ranks first by ${metric[0]?.toLowerCase()}${metric.slice(1)}: ${time}${share ? `, ${share} of all operators` : ""}.`,
  metric: "Metric",
  chart: "Chart",
  bars: "Bars",
  donuts: "Donuts",
  largest: "Largest operators",
  largestHelp: `Device self time: time of the kernels, copies and memsets that the operator launched itself.
Device total time: the same, with everything its child operators launched.
Host self time: time on the host in the operator, without its children.
Host total time: time on the host from its start to its end.

Always by operator name. The number of bars or slices does not change the table.`,
  table: "Operators",
  group: "Group by",
  backward: "Backward",
  backwards: { as_run: "Backward as it ran", with_forward: "Backward with its forward" },
  backwardRow:
    "Everything that the autograd nodes of this operator ran. Stacks shows it by operator and kernel, with the same switch.",
  unlinked: (share: string) => `For ${share} of the backward pass the forward operator is unknown`,
  groups: { name: "Operator", name_shape: "+ Input shape", name_stack: "+ Call stack" },

  empty: "This trace has no operators.",
  emptyReason: "Operators are recorded when the CPU activity is on.",
  emptyRemedy: "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",

  deviceTotal: (time: string) => `Device time ${time}`,
  hostTotal: (time: string) => `Host time ${time}`,
  unattributed: (time: string, share: string) => `${time} (${share}) not attributed to an operator`,
  unattributedHelpTitle: "device time without an operator",
  unattributedHelp:
    "Kernels, copies and memsets that no operator of this trace launched: replays of graphs, work of a library or an extension that calls the device directly, or work launched before the recording. The list below says what it belongs to instead. It is part of the device time that percentages refer to, so the column does not add up to 100 %.",

  shares: {
    deviceSelfHelp: "Device self time of the row divided by the device time of the trace.",
    hostSelfHelp: "Host self time of the row divided by the host time of all operators.",
  },

  api: {
    title: "Device API calls",
    help: "Calls of the device's runtime and driver API, by function and caller. Launches are short; a long call waits for the device, for memory, or for room in the launch queue. A click on a row shows its longest call in the trace.",
    sentence: (total: string, name: string, caller: string, time: string) =>
      `The host spent ${total} in these calls, most of it in ${name}${caller ? ` called by ${caller}` : ""}: ${time}.`,
    ofOperator: "Device API calls that it made",
    more: (n: string) => `and ${counted(n, "more function")}`,
  },

  stacks: "Call stacks",
  stacksNone: "No call stack was recorded for this operator.",
  stacksRemedy: "with_stack=True",
  stackHead: (calls: string, times: string) => `${counted(calls, "call")} · ${times}`,
  stackDevice: (time: string) => `device self ${time}`,
  stackHost: (time: string) => `host self ${time}`,
  moreStacks: (n: string) => `${n} more: group the table by call stack to see all.`,
  frames: (n: number) => counted(n, "frame"),
  openFrame: (place: string) => `Open ${place} in the editor`,
  copyFrame: (place: string) => `Copy ${place}`,
  frameCopied: "Copied",

  kernels: "Kernels it launched",
  kernelsNone: "It launched no kernels itself.",
  gone: "This trace has no operator of this name.",
});
