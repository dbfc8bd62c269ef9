import type { memory as en } from "../en/memory";

export const memory: typeof en = {
  curve: "内存使用量",
  curveHelp: `已分配：张量使用中的内存，以设备的分配器的统计为准。
已预留：缓存分配器（caching allocator）从设备占有的内存，无论是否在使用；CPU 上不保留内存，因此为 0。
设备总量：设备拥有的内存。

刻度：从 0 开始，或适应第一条曲线，以便看清微小的变化。

曲线是包含每条记录的阶梯函数。一个像素对应多条记录时，画出其中的最低值和最高值，因此不会丢失峰值；放大后会取得更多细节。

拖动可放大；右键单击、双击或按 Esc 返回。单击，或在滑块上用方向键，可设定时刻，下方的表格列出该时刻存活的内容；未设定时为所示范围内的峰值时刻。`,
  curveOf: (device) => `${device} 的内存使用量`,
  summary: (device, from, to, peak, at) =>
    `${device} 从 ${from} 到 ${to} 的内存使用量：最多已分配 ${peak}，在 ${at}`,
  device: "设备",
  scale: "刻度",
  scales: { zero: "从 0 开始", fit: "适应曲线" },
  lines: { allocated: "已分配", reserved: "已预留", total: "设备总量" },
  noDevice: (wanted, shown) => `此跟踪中没有 ${wanted} 的内存数据，改为显示 ${shown}。`,
  noRange: "链接中的时间范围不在此跟踪之内，改为显示全部。",
  noTotals: (device) => `此跟踪没有记录 ${device} 的内存使用总量。`,

  failures: {
    title: "内存不足",
    help: "失败的分配（性能分析器的 [OutOfMemory]），以及当时分配器的统计。跟踪中没有哪些片空闲：内存快照中有。",
    pasted: "OutOfMemoryError 的文本",
    pastedHelp: "异常中的数字说明了什么。其中的大小经过取整，也不说明哪些片空闲。",
    placeholder: "例如 torch.OutOfMemoryError: CUDA out of memory. Tried to allocate …",
    at: (time) => `在 ${time} 处查看`,
    facts: {
      requested: "请求",
      allocated: "张量使用",
      unallocated: "已预留未使用",
      device_free: "设备空闲",
      device_total: "设备总量",
      of_process: "本进程占用",
      of_others: "其他进程占用",
      limit: "进程的限制",
      private_pools: "私有内存池中",
    },
  },
  snapshot: {
    title: "同一进程的内存快照",
    help: "在两者共同的时间内，至少 95 % 的记录在 1 ms 之内具有相同的地址、类型和设备时，跟踪与快照属于同一进程。两个时钟各有漂移，相差几毫秒是正常的。",
    reasons: {
      linked: "该快照属于同一进程。",
      nothing_recorded: "其中之一没有该设备带地址的分配。",
      no_times: "该快照没有时间（PyTorch 2.2 之前）。",
      other_time: "该快照属于另一时间。",
      other_process: "该快照属于另一进程。",
    },
    clocks: (offset, spread, share, records) =>
      `时钟相差 ${offset}（± ${spread}）；${records} 条记录中有 ${share} 相符。`,
    open: (worker) => `打开 ${worker}`,
    calls: (n, all) => `分配器向驱动的请求：${all} 次中最大的 ${n} 次`,
    columns: ["调用", "大小", "在跟踪中的时间"],
    outside: "跟踪之前",
  },
  empty: "没有采集内存",
  emptyReason: "只有在要求时，性能分析器才会记录内存的分配和释放。",
  emptyRemedy: "profile(profile_memory=True)",

  sentence: (peak, when) => `张量最多使用 ${peak}，${when}。`,
  ofDevice: (reserved, total, share) => `分配器最多占有 ${reserved}，为设备 ${total} 的 ${share}。`,
  facts: {
    peak: "已分配峰值",
    peakHelp: "同时使用的最大内存量，以及首次达到的时刻。取自每一条记录，而不是所画的曲线。",
    reserved: "已预留峰值",
    reservedHelp: "缓存分配器从设备占有的最大内存量。",
    total: "设备总量",
    totalHelp: "设备拥有的内存（跟踪的 deviceProperties 中的 totalGlobalMem）。",
    baseline: "采集之前",
    baselineHelp: "第一条记录之前使用中的内存：参数、优化器状态，以及其他当时已有的内容。",
    here: "范围内的峰值",
    hereHelp: "所示范围内使用的最大内存量。",
    at: (time) => `在 ${time}`,
    in: (step) => `位于${step}`,
    ofTotal: (share) => `最多占用 ${share}`,
    ofPeak: (share) => `占峰值的 ${share}`,
    slack: (size) => `比已分配峰值多 ${size}`,
  },

  peak: (size) => `峰值 ${size}`,
  peakHere: (size) => `此处峰值 ${size}`,
  step: (name) => (/^\d+$/.test(name) ? `步 ${name}` : name),
  stepLabel: "步",
  between: (low, high) => `${low} – ${high}`,
  table: {
    time: "时刻",
    lowest: "已分配，最低",
    highest: "已分配，最高",
    last: "已分配，最后",
    reserved: "已预留",
  },

  categories: {
    title: "内存的用途",
    help: `按分配和释放所在的阶段判断：前向、反向（在 autograd::engine::evaluate_function 之下）或优化器（在 Optimizer.step 和 zero_grad 之下）。

梯度在反向中分配且不在其中释放；优化器状态在优化器中分配并保留；为反向保存的内容在前向中分配、在反向中释放。采集开始之前已有的内容（参数、状态、缓冲区）无法区分：内存快照可以。

每一列是其中使用最多的时刻；各类之和等于当时已分配的量。单击一列可查看当时使用中的内存块。`,
    none: "此跟踪没有记录内存的使用总量。",
    noPhases: "此跟踪中既没有反向也没有优化器的范围，因此无法区分。",
    atPeak: (size) => `峰值 ${size} 时`,
    openPeak: "显示峰值时使用中的内存块",
    columns: ["类别", "大小", "占比", "块"],
    columnsHelp: [
      "内存的用途。",
      "峰值时该类别占用的字节数。",
      "大小 ÷ 峰值时占用的全部字节数。",
      "峰值时占用、且在记录期间分配的该类别的块数。",
    ],
    names: {
      gradient: "梯度",
      optimizer_state: "优化器状态",
      saved_for_backward: "为反向保存",
      kept_from_forward: "前向保留",
      forward_temporary: "前向中的临时内存",
      backward_temporary: "反向中的临时内存",
      optimizer_temporary: "优化器中的临时内存",
      in_use: "使用中",
      before_recording: "采集开始之前",
    },
  },

  tabs: "表格",
  tab: {
    alive: "存活",
    holders: "按算子的存活内存",
    events: "分配记录",
    operators: "算子",
    modules: "峰值时的模块",
  },
  alive: "存活的内存",
  aliveHelp: `在该时刻之前（含该时刻）已分配且尚未释放的内存块，最大的在前。

已知内存块是在采集期间分配的。采集之前的分配没有记录，只知道其总和。`,
  events: "分配记录",
  eventsHelp: "每次分配及其释放，至少其中之一在时间范围内。没有记录到的一端为空。",
  operators: "算子",
  operatorsHelp: `各算子在时间范围内分配和释放的内存：算子自身的，以及连同其调用的全部内容的。在该设备上没有任何记录的算子不列出。

选中一行可查看该算子的耗时，并转到“算子”视图。`,

  whole: "整个采集",
  range: (from, to) => `${from} 至 ${to}`,
  follows: (range) => `时间范围：${range}`,

  at: {
    peak: (time) => `峰值时刻 ${time}：`,
    peakOfRange: (time) => `范围内的峰值时刻 ${time}：`,
    cursor: (time) => `时刻 ${time}：`,
  },
  backToPeak: "回到峰值",
  inUse: "使用中",
  known: "在已知内存块中",
  blocksAlive: (n) => `${n} 块`,
  unknown: "采集之前分配",
  onlyLargest: (shown, total) => `只列出最大的 ${shown} 个内存块，共 ${total} 个。`,
  share: "占使用量 %",
  shareHelp: "大小除以该时刻使用中的内存。",
  outside: "（算子之外）",
  boxes: "使用中的内存，按申请者",
  boxesHead: ["用途", "块"],
  smallerBlocks: (n) => `${n} 个较小的块`,
  beforeRecording: "（采集之前分配）",
  blocks: "内存块数",
  blocksHelp: "存活的内存块的数量。",
  holdersBytesHelp: "各内存块的大小之和（Σ）。",
  largest: "最大",
  largestHelp: "其中最大的内存块的大小。",

  total: (allocated, count, change) => `${count} 次分配，共 ${allocated}，净变化 ${change}`,
  outsideTotal: (allocated, change) => `其中算子之外：分配 ${allocated}，净变化 ${change}`,
  outsideHelpTitle: "算子之外的分配与释放",
  outsideHelp:
    "在任何算子之外的分配和释放，例如 Python 丢弃张量时的释放。Σ 自身 + 此项 = 该设备上记录的全部内容，严格相等。",
  modules: {
    title: "各模块内存的用途",
    help: `整个采集的峰值时使用中的内存块，按分配它们的最内层模块分组：在该模块的前向中分配，或在其算子的反向中分配。各列为上面的类别。`,
    none: "跟踪中没有模块的名称：采集时使用 with_stack=True 或 with_modules=True。",
    sum: (peak, unknown) =>
      `峰值时使用 ${peak}；其中 ${unknown} 在采集开始之前分配，所属模块未知。`,
    outside: "（在模块之外）",
  },
  noOperators: "在此范围内没有算子改变该设备的内存。",

  allocatedAt: "分配",
  releasedAt: "释放",
  notRecorded: "没有记录",
  setMoment: "设为当前时刻",
  setMomentOf: (end, time) => `将时刻设为 ${time}（${end}）`,
  zoomLifetime: "放大到它的存活期",
};
