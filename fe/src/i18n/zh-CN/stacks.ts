import type { stacks as en } from "../en/stacks";

export const stacks: typeof en = {
  title: "调用栈",
  help: `每一时刻的调用栈是当时在一个线程上运行的内容：Python 函数、模块、标注和算子，先开始的在外层。名称相同的调用栈合并为一个方块，跨所有线程和步。

主机：在主机上的时间。设备：内核、内存拷贝和内存置位的时间，它们位于启动它们的调用栈之下。

自顶向下：从最先被调用的开始，按首次出现的顺序排列。最大居左：同上，但最大的方块排在左边。自底向上：从耗时之处开始，到它的各级调用者。`,
  weight: "权重",
  weights: { device: "设备时间", host: "主机时间" },
  mode: "排列",
  modes: { top_down: "自顶向下", left_heavy: "最大居左", bottom_up: "自底向上" },
  backward: "反向",
  backwards: { as_run: "反向按运行位置", with_forward: "反向归入前向" },
  show: "显示方式",
  shows: { flame: "火焰图", table: "表格" },
  filter: "调用栈",

  thread: {
    label: "线程",
    all: "所有线程",
    idle: "空闲",
    of: (name, time) => `${name}（${time}）`,
  },

  files: "文件",
  filesHint: "例如 train.py  或  -site-packages",
  filesHelp:
    "只显示路径中包含任一所填词的文件的栈帧；前面加减号的词排除相应文件。其他栈帧的时间计入包围它们的部分。模块、标注、算子和设备工作始终保留。",

  whole: (weight, time, entries, thread) =>
    `${weight} ${time}，分布在 ${entries} 个不同的调用栈中，${thread}`,
  most: (weight) => `自身${weight}最多：`,
  mostTakes: (time, share) => `（${time}，占全部的 ${share}）。`,
  noStack: (time, share) => `${time}（${share}）在任何调用栈之外启动`,
  noStackHelpTitle: "任何调用栈之外的设备时间",
  noStackHelp:
    "启动时没有任何 Python 函数、算子或标注在运行的设备工作，例如由 CUDA Graph 启动的，或在采集开始之前启动的。它们显示在最上层，位于 API 调用的名称之下。",
  folded: (time) => `小于 ${time} 的方块合并显示为“(smaller)”。放大后可逐个查看。`,
  threads: "所有线程合计",

  share: "占总耗时 %",
  shareHelp: "该项的总耗时除以所有调用栈的时间。",

  empty: "此跟踪中没有调用栈",
  emptyReason: "其中没有适用于此权重的 Python 函数、算子或标注。",
  emptyRemedy: "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True)",
  gone: "此跟踪中没有此链接所放大的方块，改为显示全部。",

  tooltip: {
    total: "总耗时",
    self: "自身耗时",
    calls: "调用次数",
    folded: "合并项数",
  },
  spoken: (name, kind, time, share) => `${name}，${kind}：${time}，${share}`,

  details: "选中的方块",
  detailsNone: "单击一个方块可放大，并在此查看它的数据。",
  inspect: {
    op: "在抽屉中查看该算子",
    kernel: "在抽屉中查看该内核",
    mod: "在抽屉中查看该模块",
    step: "在抽屉中查看该步",
  },
  detailsNoneTable: "选择一行可在此查看它的数据。",
  zoom: "放大到此处",
  open: (place) => `在编辑器中打开 ${place}`,
  copy: (place) => `复制 ${place}`,
  copied: "已复制",
};
