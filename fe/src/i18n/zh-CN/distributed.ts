import type { distributed as en } from "../en/distributed";

export const distributed: typeof en = {
  what: "个 rank",
  rank: "Rank",
  worker: "Worker",

  choice: "数据所属的步",
  step: "统计范围",
  allSteps: "所有步的平均",
  stepOption: (name) => `步 ${name}`,
  stepMissing: (n) => `${n} 个 rank 没有这一步`,
  order: "排序",
  byRank: "Rank",
  bySlowest: "最长的在前",
  mode: "刻度",
  absolute: "绝对值",
  percent: "百分比",

  empty: "没有找到 rank 之间的通信",
  emptyReason:
    "此视图比较同一次运行的各个 rank。程序需要进行通信（torch.distributed：NCCL、Gloo、MPI 等），并且每个 rank 各有一个跟踪，放在同一目录中。",
  emptyRemedy:
    'on_trace_ready=tensorboard_trace_handler(log_dir, worker_name=f"rank{dist.get_rank()}")',
  noSteps: "没有任何 rank 有步",
  noStepsReason: "这些跟踪中没有任何带时长的内容，因此没有可比较的步。",

  run: {
    loaded: (n) => `全部 ${n} 个 rank 一起重放`,
    partly: (n, all) => `${all} 个 rank 中的 ${n} 个一起重放`,
    loadedHelp: "集合通信在这些 rank 中最后一个到达时开始。它的代价包含对没有加载的 rank 的等待。",
    help: "整个运行中损失时间的原因，节省最多的在前。节省的时间是所有 rank 的平均每步会缩短的时间，通过去掉该原因后一起重放所有 rank 得出；每一项都在其上方各项之后计算，因此可以相加。",
    none: (n) => `${n} 条关于多个 rank 的规则都没有找到损失时间的原因。`,
  },

  tiles: {
    ranksHelp: "有跟踪的 rank 数，以及该运行的全部 rank 数。",
    ranks: "Rank 数",
    ranksOf: (present, world) => `${present} / ${world}`,
    missing: (ranks) => `缺少 rank ${ranks} 的跟踪`,
    nodes: (n) => `在 ${n} 个节点上`,
    step: "每步时间",
    stepHelp: "各 rank 每步时间的中位数",
    exposed: "暴露的通信",
    exposedHelp:
      "设备上有通信内核运行而没有计算内核运行的时间 ÷ 每步时间，取各 rank 的中位数。只能从主机上的调用得知通信（gloo、MPI）时为空",
    hidden: "被掩盖的通信",
    hiddenHelp: "重叠 ÷（重叠 + 通信），取各 rank 的中位数：通信时间中 rank 同时在进行计算的部分",
    waiting: "等待",
    waitingHelp:
      "同步等待 ÷（同步等待 + 数据传输），取各 rank 的中位数：通信操作的时间中用于等待其他 rank 的部分",
    waitingUnknown: "只有一个 rank，无法得知",
    waitingUnmatched: "没有操作能与其他 rank 的操作配对",
    median: "中位数",
    min: "最小",
    max: "最大",
  },

  straggler: {
    label: "被等待的 rank",
    found: (rank) => `${rank} 最后到达。`,
    wait: (others, own, share) =>
      `其他 rank 每步在通信操作中等待 ${others}，它等待 ${own}：相差每步时间的 ${share}。`,
    computing: (time) => `它的计算时间比其他 rank 的中位数长 ${time}。`,
    other: (time) => `它既不计算也不通信的时间（其他）比其他 rank 的中位数多 ${time}。`,
    unexplained: "它的计算时间和“其他”时间都不比其他 rank 长。",
    none: (share) =>
      `没有明显落后的 rank：等待最少的 rank 比其他 rank 的中位数少等待的时间，不到每步时间的 ${share}。`,
    unknown: "各 rank 的操作无法相互配对，因此无法判断谁在等待谁。",
    one: "只有一个跟踪，无法判断谁在等待谁。",
    show: (view) => `在“${view}”中查看`,
    rank: (name) => `Rank ${name}`,
  },

  overlap: "计算/通信概览",
  overlapHelp:
    "每个 rank 的每步时间用在哪里。四个部分之和严格等于每步时间。三角形标出其他 rank 所等待的 rank。",
  waits: "同步/通信概览",
  waitsHelp:
    "由该步调用的通信操作运行的时间，分为等待其他 rank 和传输数据两部分。其中一部分可能被计算掩盖。",

  heat: "Rank × 步",
  heatHelp:
    "每个 rank 的每一步为一格；颜色越深（深色页面中为越亮），时间越长。放不下的 rank 和步共用一格，显示其中的最大值。单击一格可选择它的 rank 和步。",
  heatMetric: "颜色",
  heatMetrics: {
    duration_ns: "每步时间",
    computation_ns: "计算",
    communication_only_ns: "通信",
    wait_ns: "同步等待",
  },
  heatSummary: (metric, ranks, steps, least, most) =>
    `${ranks} 个 rank 在 ${steps} 步中的${metric}，从 ${least} 到 ${most}。具体数值见各 rank 的表格。`,
  heatKeys: "方向键在单元格之间移动，Home 和 End 移到行首和行尾，Enter 显示该 rank 和步骤。",
  heatMerged: (ranks, steps) => `每格显示 ${ranks} 个 rank、${steps} 步中的最大值。`,
  heatCell: (rank, step, value) => `${rank}，步 ${step}：${value}`,
  heatCellMerged: (rank, step, value) => `${rank}，步 ${step}：最大 ${value}`,
  span: (from, to) => (from === to ? from : `${from} … ${to}`),

  ranks: "各 rank",
  columns: {
    worker: "Worker",
    rank: "Rank",
    node: "节点",
    duration: "每步时间",
    durationHelp: "所选步的耗时，或该 rank 各步的平均值。",
    delta: "Δ 中位数",
    deltaHelp: "每步时间 − 所有 rank 的每步时间的中位数。",
    exposed: {
      label: "暴露的通信 %",
      help: "设备上有通信内核运行而没有计算内核运行的时间 ÷ 每步时间。只能从主机上的调用得知通信（gloo、MPI）时为空。",
    },
    hidden: {
      label: "掩盖 %",
      help: "重叠 ÷（重叠 + 通信）：通信时间中被计算掩盖的部分。",
    },
    waitShare: {
      label: "等待 %",
      help: "同步等待 ÷（同步等待 + 数据传输）。",
    },
    steps: "步数",
    stepsHelp: "该 rank 所记录的步数。",
  },

  operations: {
    title: "通信操作统计",
    worker: "操作所属的 worker",
    allWorkers: "所有 worker",
    group: "进程组",
    allGroups: "所有进程组",
    noGroup: "未命名",
    waitHelp: "同步等待 ÷（同步等待 + 数据传输）。",
    empty: "没有记录到通信操作",
    emptyReason: "此 span 的跟踪中没有集合通信，也没有发送或接收操作。",
    noMatch: "此 worker 在该进程组中没有操作。",
  },

  devices: {
    memoryHelp: "文件中所描述的设备显存。",
    title: "设备信息",
    help: "每个 rank 的运行位置。设备是指执行过工作的设备，以及跟踪中关于它们的信息。",
    gpu: (id) => `GPU ${id}`,
    columns: {
      node: "节点",
      process: "进程",
      worker: "Worker",
      rank: "Rank",
      device: "设备",
      name: "名称",
      memory_bytes: "显存",
      compute_capability: "计算能力",
      backend: "后端",
      groups: "进程组",
    },
  },

  groups: {
    title: "进程组",
    list: "进程组列表",
    help: "相互通信的 rank 的分组，以及其中有多少个 rank 有跟踪。",
    columns: { name: "进程组", size: "Rank 数", present: "跟踪数", ranks: "成员 rank" },
    sizeHelp: "该组的 rank 数。",
    presentHelp: "该组中有跟踪的 rank 数。",
    unnamed: "未命名",
    empty: "跟踪中没有写明进程组",
    emptyReason: "torch 从 2.3 起记录进程组。",
  },
};
