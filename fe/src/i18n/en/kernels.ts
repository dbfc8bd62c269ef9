import { area } from "../translation";

export const kernels = area("kernels", {
  sentence: (name: string, time: string, share: string) =>
    `${name} takes the most time: ${time}, ${share} of all kernels.`,
  chart: "Chart",
  bars: "Bars",
  donut: "Donut",
  largest: "Total time of kernels",
  largestHelp:
    "Time each kernel ran on the device, summed over its calls. Copies and memsets are not kernels; they are listed below the table.",
  tensor: "Tensor cores",
  tensorHelp:
    "Share of the time of compute kernels spent in kernels that use tensor cores, judged by the kernel's name. All compute kernels count, whatever the number of bars; communication does not.",
  using: "Using tensor cores",
  notUsing: "Not using tensor cores",
  unknown: "Unknown",
  noTime: "The compute kernels of this trace have no duration.",
  occupancyUnknown:
    "Unknown: the trace does not record it, and it cannot be computed from the launch (compute capabilities 7.0, 7.5, 8.0 and 9.0).",

  table: "Kernels",
  group: "Group by",
  groups: { name: "Kernel name", name_op_launch: "Properties + operator" },
  /** As the server says them. */
  kinds: {
    activation: "activation",
    attention: "attention",
    "attention helper": "attention helper",
    communication: "communication",
    "communication + norm": "communication + norm",
    compute: "compute",
    concatenate: "concatenate",
    conv: "conv",
    "conv helper": "conv helper",
    copy: "copy",
    embedding: "embedding",
    fill: "fill",
    gemm: "gemm",
    "gemm helper": "gemm helper",
    gemv: "gemv",
    image: "image",
    index: "index",
    "kv cache": "kv cache",
    layout: "layout",
    "linear algebra": "linear algebra",
    "linear attention": "linear attention",
    loss: "loss",
    norm: "norm",
    "norm + quantize": "norm + quantize",
    optimizer: "optimizer",
    pointwise: "pointwise",
    pooling: "pooling",
    quantize: "quantize",
    random: "random",
    reduction: "reduction",
    rotary: "rotary",
    routing: "routing",
    sampler: "sampler",
    softmax: "softmax",
    sort: "sort",
    spin: "spin",
    wait: "wait",
  },
  share: "% kernel time",
  shareHelp: "Total time of the row divided by the time of all kernels.",
  total: (time: string) => `Kernel time ${time}`,

  empty: "This trace has no kernels",
  emptyReason: "It was recorded without device activity, or the program did not use a device.",
  emptyRemedy: "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",

  copies: "Copies, memsets and waits",
  copiesHelp:
    "What the device did besides kernels; waits are not work. Bandwidth is bytes divided by the time of the copies, in 10⁹ bytes per second.",
  memcpy: "Memory copies",
  memset: "Memory sets",
  waits: "Waits",
  columns: { name: "Name", bytes: "Bytes", bandwidth: "GB/s" },

  columnHelp: {
    bytes: "Σ bytes that the calls moved or set, as recorded.",
    bandwidth: "Bytes ÷ total, in 10⁹ bytes per second.",
  },

  byOperator: "By operator",
  byLaunch: "By operator and launch",
  longestLaunches: (shown: string, all: string) =>
    `The ${shown} that take longest, of ${all} different launches.`,
  allLaunches: "Show all",
  noOperator: "(no operator)",
  showOperator: (name: string) => `Show operator ${name}`,
  gone: "This trace has no kernel of this name.",
});
