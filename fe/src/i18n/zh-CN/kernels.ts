import type { kernels as en } from "../en/kernels";

export const kernels: typeof en = {
  chart: "图表",
  bars: "条形图",
  donut: "环形图",
  largest: "内核总耗时",
  largestHelp:
    "每个内核（kernel）在设备上运行的时间，按所有调用累加。内存拷贝（memcpy）和内存置位（memset）不是内核，列在表格下方。",
  tensor: "Tensor Core",
  tensorHelp:
    "使用 Tensor Core 的内核在计算内核总时间中所占的比例，根据内核名称判断。无论显示多少条，都统计全部计算内核；通信不计入。",
  using: "使用 Tensor Core",
  notUsing: "未使用 Tensor Core",
  unknown: "未知",
  noTime: "此跟踪中的计算内核没有耗时。",
  occupancyUnknown:
    "未知：跟踪没有记录，或者分析器没有计算（每个线程块的共享内存超过 48 KiB 的内核，它写为 0）。",

  table: "内核",
  group: "分组方式",
  groups: { name: "内核名称", name_op_launch: "启动属性 + 算子" },
  share: "占内核时间 %",
  shareHelp: "该行的总耗时除以所有内核的总时间。",
  total: (time) => `内核时间 ${time}`,

  empty: "此跟踪中没有内核",
  emptyReason: "采集时没有开启设备活动，或者程序没有使用加速设备。",
  emptyRemedy: "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",

  copies: "内存拷贝、置位与等待",
  copiesHelp:
    "设备除内核以外所做的事；等待不是工作。带宽为字节数除以拷贝时间，单位为每秒 10⁹ 字节。",
  memcpy: "内存拷贝（memcpy）",
  memset: "内存置位（memset）",
  waits: "等待",
  columns: { name: "名称", calls: "调用次数", total: "总耗时", bytes: "字节数", bandwidth: "GB/s" },

  columnHelp: {
    calls: "运行的次数。",
    total: "各次调用的耗时之和（Σ）。",
    bytes: "各次调用拷贝或置位的字节数之和（Σ），取自记录。",
    bandwidth: "字节数 ÷ 总耗时，以每秒 10⁹ 字节计。",
  },

  byOperator: "按算子",
  byLaunch: "按算子和启动配置",
  longestLaunches: (shown, all) => `共 ${all} 种不同的启动，此处为耗时最长的 ${shown} 种。`,
  allLaunches: "显示全部",
  noOperator: "（无算子）",
  showOperator: (name) => `显示算子 ${name}`,
  gone: "此跟踪中没有这个名称的内核。",
};
