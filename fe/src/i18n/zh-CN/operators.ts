import type { operators as en } from "../en/operators";

export const operators: typeof en = {
  metrics: {
    device_self: "设备自身耗时",
    device_total: "设备总耗时",
    host_self: "主机自身耗时",
    host_total: "主机总耗时",
    api_self: "阻塞在 API 中",
  },
  sentence: (name, metric, time, share) =>
    `按${metric}，${name} 居首：${time}${share ? `，占全部算子的 ${share}` : ""}。`,
  metric: "指标",
  chart: "图表",
  bars: "条形图",
  donuts: "环形图",
  largest: "耗时最多的算子",
  largestHelp: `设备自身耗时：由算子自己启动的内核、内存拷贝和内存置位的时间。
设备总耗时：同上，并包含其子算子启动的全部工作。
主机自身耗时：算子在主机（CPU）上的时间，不含其子算子。
主机总耗时：算子在主机上从开始到结束的时间。

始终按算子名称统计。条数或扇区数的设置不影响表格。`,
  table: "算子",
  group: "分组方式",
  backward: "反向",
  backwards: { as_run: "反向按运行位置", with_forward: "反向归入前向" },
  backwardRow: "此算子的 autograd 节点运行的所有内容。调用栈视图用同样的开关按算子和内核显示。",
  unlinked: (share) => `反向传播的 ${share} 不知道其前向`,
  groups: { name: "算子", name_shape: "+ 输入形状", name_stack: "+ 调用栈" },

  empty: "此跟踪中没有算子。",
  emptyReason: "开启 CPU 活动后才会记录算子。",
  emptyRemedy: "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]",

  deviceTotal: (time) => `设备时间 ${time}`,
  hostTotal: (time) => `主机时间 ${time}`,
  unattributed: (time, share) => `${time}（${share}）未能归属到算子`,
  unattributedHelpTitle: "没有归属算子的设备时间",
  unattributedHelp:
    "不是由此跟踪中的算子启动的内核、内存拷贝和内存置位：图的重放、直接调用设备的库或扩展的工作，或者在采集开始之前启动的工作。下面的列表说明它们归属于谁。百分比所参照的设备时间包含这一部分，因此该列之和不到 100 %。",

  shares: {
    deviceSelfHelp: "该行的设备自身耗时除以整个跟踪的设备时间。",
    hostSelfHelp: "该行的主机自身耗时除以所有算子的主机时间。",
  },

  api: {
    title: "设备 API 的调用",
    help: "设备的运行时和驱动的调用，按函数和调用者列出。启动很短；耗时长的调用在等待：等待设备、内存或其队列中的空位。单击一行可在跟踪中显示其最长的一次调用。",
    sentence: (total, name, caller, time) =>
      `主机在这些调用中共用 ${total}，其中最多的是${caller ? ` ${caller} 调用的` : ""} ${name}：${time}。`,
    ofOperator: "它自己对设备 API 的调用",
    more: (n) => `另有 ${n} 个函数`,
  },

  stacks: "调用栈",
  stacksNone: "没有记录此算子的调用栈。",
  stacksRemedy: "with_stack=True",
  stackHead: (calls, times) => `${calls} 次调用 · ${times}`,
  stackDevice: (time) => `设备自身 ${time}`,
  stackHost: (time) => `主机自身 ${time}`,
  moreStacks: (n) => `另有 ${n} 个：将表格按调用栈分组即可查看全部。`,
  frames: (n) => `${n} 个栈帧`,
  openFrame: (place) => `在编辑器中打开 ${place}`,
  copyFrame: (place) => `复制 ${place}`,
  frameCopied: "已复制",

  kernels: "由它启动的内核",
  kernelsNone: "它自身没有启动内核。",
  gone: "此跟踪中没有这个名称的算子。",
};
