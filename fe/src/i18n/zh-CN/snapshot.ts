import type { snapshot as en } from "../en/snapshot";

export const snapshot: typeof en = {
  none: "这不是内存快照",
  noneReason: "所示的跟踪没有内存快照。日志目录中的快照与 worker 一样，在页面顶部选择。",
  noneRemedy:
    "torch.cuda.memory._record_memory_history(); …; torch.cuda.memory._dump_snapshot('snapshot.pickle')",

  title: "内存快照",
  help: `torch.cuda.memory._dump_snapshot 写出的内容：每次分配和释放及其调用栈，以及结束时缓存分配器占有的段（segment）。

请求：程序要求的字节数。块：分配器为此占用的字节数（取整后）。预留：PyTorch 从设备占有的段。

这里只有经过缓存分配器的内存：不包括 NCCL 缓冲区、CUDA 上下文和其他进程。`,
  device: "设备",
  peak: "请求峰值",
  atLeast: (size) => `至少 ${size}`,
  reserved: "预留峰值",
  notRecorded: "没有记录历史",
  reservedAtEnd: "结束时预留",
  segments: (n) => `共 ${n} 个段`,
  atEnd: "结束时使用",
  entries: "记录",
  fragmentation: "结束时的碎片化",
  fragmentationHelp: "1 − 最大空闲片 / 空闲片总和。",
  grows: "每步增长",
  ofSteps: (steps) => `共 ${steps} 步；第一步不计`,
  blocks: (size) => `块 ${size}`,
  contradictions: (n) => `文件中有 ${n} 处矛盾`,
  cutOff: "文件不完整：使用量从第一条记录算起。",
  overflowed: "最早的记录已被覆盖：达到了 max_entries。",
  missing: (actions) => `文件中没有 ${actions} 记录，以其他记录代替。`,
  mostSaid: (peak, reserved, end) => `最多请求 ${peak}，最多预留 ${reserved}；结束时使用 ${end}。`,
  endSaid: (used, reserved) =>
    `写出快照时使用 ${used}，预留 ${reserved}。文件没有历史，因此峰值未知。`,
  growsSaid: (bytes, steps) => `内存每步增长 ${bytes}（${steps} 步）。`,
  findings: "可以改进之处",
  found: {
    near_capacity: (bytes, n, line) =>
      `峰值时，块几乎占用了 PyTorch 可从设备得到的全部内存：超出限度 ${bytes}，共 ${n} 个块，最多在 ${line}。请重算激活（torch.utils.checkpoint.checkpoint），用 torch.autocast 使其减半，或减小批大小。`,
    leak: (bytes, n, line) =>
      `内存每步增长 ${bytes}（${n} 步），最多在 ${line}。请在该处保存数值而不是张量（.item()、.detach()），并释放下一步不需要的内容。`,
    fragmentation: (bytes, n, line) =>
      `预留最多时，${n} 个段中有 ${bytes} 在块之间空闲；旁边的块最多来自 ${line}。请设置 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True，或先分配长期保留的内容。`,
    reserved_growth: (bytes, n) =>
      `预留内存每步增长 ${bytes}（${n} 步），而请求的峰值没有增长。请将逐步变化的大小填充为少数几种，或使用可扩展段。`,
    empty_cache: (bytes, n) =>
      `有 ${n} 个段（${bytes}）被归还后又以相同大小重新取得：每次都要等待设备。请从循环中去掉 torch.cuda.empty_cache()。`,
    churn: (bytes, n, line) =>
      `有 ${n} 次超过 1 MiB 的分配（${bytes}）在 100 µs 内被释放，最多在 ${line}。请写入保留的张量（out=），或融合其周围的算子（torch.compile）。`,
  },
  severities: { high: "高", medium: "中", low: "低" },
  showMoment: "查看该时刻",
  sameProcess: {
    linked: (worker, offset, share) =>
      `跟踪 ${worker} 属于同一进程：其 ${share} 的记录相符，时钟相差 ${offset}。`,
    other: (worker) => `跟踪 ${worker} 不属于同一进程和时间。`,
    open: "打开其内存视图",
    moment: (view) => `在“${view}”中查看此刻`,
    outside: "此刻在跟踪之外。",
  },

  oom: "内存不足",
  reasons: {
    fragmented: "碎片化",
    other_stream: "空闲内存属于其他流",
    other_pool: "空闲内存属于其他内存池",
    pending: "已释放的内存尚不可用",
    limit: "低于设备内存的限制",
    full: "已满",
    unknown: "已满，或者有限制",
  },
  inferred: "没有历史的文件不说明是否内存不足；如果它是在内存不足时保存的：",
  inferredUse: (used, reserved) => `预留的 ${reserved} 中有 ${used} 在使用。`,
  inferredHeld: (blocks, size, line, segments) =>
    `${line === null ? "调用栈未知" : `在 ${line} 分配`}的 ${blocks} 个块（${size}）使 ${segments} 个段无法归还设备。`,
  asked: (size, line) => `在 ${line} 请求 ${size}。`,
  free: (size, pieces, largest) => `空闲 ${size}，分为 ${pieces} 片；最大的一片为 ${largest}。`,
  oomFacts: {
    requested: "请求",
    free: "可用的空闲",
    largest: "最大的一片",
    deviceFree: "设备空闲",
    segment: "所需的段",
    otherStreams: "其他流的空闲",
    otherPools: "其他内存池的空闲",
    pending: "等待其他流",
    inUse: "使用中",
    reserved: "预留",
  },
  expandable:
    "设置 PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True 后或可容纳：零散的空闲与设备的空闲合起来足够。",
  noPool: "没有记录此请求的内存池，按默认内存池处理。",
  holders: "占住含空闲片的段的内容",
  holderColumns: ["分配位置", "请求", "块", "段", "可合并"],

  ranks: "此运行的快照",
  ranksHelp:
    "各个 rank 或时刻并列，离峰值中位数最远的在前；并给出峰值时与中位数快照相差最多的程序行。",
  ranksOrder: "离中位数最远的在前",
  rankColumns: [
    "快照",
    "请求峰值",
    "与中位数之差",
    "预留峰值",
    "结束时",
    "内存不足",
    "相差最多处",
    "相差",
  ],

  linked: {
    title: { module: "使用中的内存，按跟踪中的模块", annotation: "使用中的内存，按跟踪中的标注" },
    help: `同一进程的跟踪也记录了的分配，按地址和时间在其中找到。模块是该记录外最内层的模块；在反向中则为其前向算子所属的模块。在跟踪之前或之后的分配没有对应的记录。`,
    share: (share) => `${share} 的字节数在跟踪中找到。`,
    columns: ["所在位置", "请求", "分配次数"],
  },
  timeline: "随时间的分配",
  timelineHelp: `每块面积是一次分配，从产生到释放；按产生的先后层叠。数量过多而无法逐个画出时，程序同一行的分配合为一块。每一列中各面积之和，恰好等于该列最高记录处使用的字节数。

拖动可放大，双击返回。单击设定下方段图和表格的时刻。`,
  noHistory: "没有记录历史",
  noHistoryReason: "文件只有写出时使用中的内容，没有之前的内容。",
  noHistoryRemedy: "torch.cuda.memory._record_memory_history()  # 在第一步之前",
  timelineSaid: (columns, peak) => `${columns} 列的分配，最多 ${peak}`,
  axis: "横轴",
  axes: { time: "时间", record: "记录" },
  allocationColumns: ["分配位置", "请求", "分配次数", "分配", "释放"],
  whole: "全部",
  moment: "时刻",
  moments: {
    start: "开始",
    peak: "峰值",
    reserved_peak: "预留峰值",
    snapshot: "较早的快照",
    oom: "内存不足",
    end: "结束",
    record: (n) => `第 ${n} 条记录`,
  },
  compare: "对比",
  nothing: "无",
  other: "其他快照",
  againstHelp:
    "该时刻使用中的内容，以及另一快照中使用中的内容：名称相同的行合为一行。在文件中移动过的行算作另一行；按模块则视为相同。",
  againstSaid: (at, now, then, before, name) => `${at}：${now}；${name} 的${then}：${before}。`,
  againstPeak: (name, moment) => `${name} 中没有“${moment}”时刻：比较的是它的峰值。`,
  tip: {
    size: "请求",
    born: "分配",
    released: "释放",
    blocks: "分配次数",
    before: "采集开始之前",
    never: "记录期间未释放",
    record: (n) => `第 ${n} 条记录`,
    inUse: "使用中",
    reserved: "预留",
  },
  more: (n) => `另有 ${n} 行`,

  map: "段",
  mapHelp:
    "每一条是分配器在该时刻占有的一个段，按地址排列；颜色表示程序的行，灰色是空闲部分。太小而看不清的片合在一起画出。",
  mapSaid: (segments, reserved, free) => `${segments} 个段，共 ${reserved}；其中空闲 ${free}`,
  mapKeys: "左右方向键在片之间移动，上下方向键到上一行和下一行。",
  pieceColumns: ["分配位置", "段", "偏移", "大小", "分配次数", "使用中"],
  inexact: "该时刻并非所有块的大小都已知：取整部分显示为空闲。",
  leftOut: (n) => `另有 ${n} 个较小的段未画出。`,
  freePiece: "空闲",
  mixed: "多个",
  pools: "内存池",
  poolColumns: ["内存池", "流", "块", "段", "预留", "使用", "空闲", "最大空闲"],
  small: "小",
  large: "大",
  defaultPool: "默认",

  alive: "使用中的内容",
  aliveHelp: `该时刻已分配而未释放的内容。行是分配的调用栈中您自己的代码的最内层帧。相同的大小往往是同一种张量。模块是 nn.Module 调用的最内层函数；标注是程序中最后开始的区间。

与另一时刻对比时，旁边列出每行的差值。`,
  tabs: {
    line: "按行",
    stack: "按调用栈",
    module: "按模块",
    annotation: "按标注",
    size: "按大小",
    flame: "火焰图",
    lifetimes: "存活时间",
  },
  show: "显示方式",
  direction: "方向",
  directions: { top_down: "自顶向下", bottom_up: "自底向上" },
  frames: "帧",
  framesOf: { python: "Python 帧", own: "自己的代码", all: "全部" },
  flameTotal: "总计",
  flameSelf: "自身",
  spoken: (name, bytes) => `${name} 占 ${bytes}`,
};
