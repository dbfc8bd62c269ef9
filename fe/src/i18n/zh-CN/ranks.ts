import type { ranks as en } from "../en/ranks";

export const ranks: typeof en = {
  answer: {
    title: "哪个 rank 慢",
    one: (step) => `只有一个 rank，无法测量等待。每步用时 ${step}。`,
    none: (ranks, steps) =>
      `没有慢的 rank：${ranks} 个 rank 在 ${steps} 步中，没有一个明显比同类工作得更久。`,
    two: (rank, late) => `两个 rank 中，${rank} 每步多工作 ${late}，另一个在等它。`,
    soFar: (ranks, step) =>
      `到目前为止读取了 ${ranks} 个 rank，每步用时 ${step}。全部读取之后才会说明哪个慢。`,
    unknown: (ranks) => `已读取 ${ranks} 个 rank，但它们没有可以比较的共同的步。`,
    slow: (rank, cause, late) => `${rank} 慢：${cause}，每步比同类多 ${late}。`,
    several: (n, cause, late) => `${n} 个 rank 慢：${cause}，每步最多比同类多 ${late}。`,
    mixed: (n, first) => `${n} 个 rank 因不同的原因而慢，最严重的是 ${first}。`,
    link: (group, ratio) =>
      `没有慢的 rank，但有一条链路慢：${group} 的传输用时是同类进程组的 ${ratio} 倍。`,
    saving: (ns, share) => `没有它，每步会缩短 ${ns}（${share}）。`,
    savingOfAll: (n, ns, share) => `没有这 ${n} 处延迟，每步会缩短 ${ns}（${share}）。`,
    nothing: "没有它，每步也不会缩短：其他 rank 需要同样长的时间。",
    alsoLink: (group) => `${group} 的链路也慢。`,
    confidence: { high: "置信度高", medium: "置信度中", low: "置信度低" },
    confidenceHelp: "作业的所有 rank 都在并且至少有四步时为高。",
    read: (read, all) => `已读取 ${all} 个 rank 中的 ${read} 个`,
    reading: (read, all) => `已读取 ${all} 个 rank 中的 ${read} 个；页面随读取更新`,
    failed: (n) => `${n} 个无法读取`,
  },

  cause: {
    input: "等待输入的时间更长",
    slow_compute: "同样的内核用时更长",
    more_work: "它的工作更多",
    slow_operator: "一个算子用时更长",
    late_launches: "主机启动得晚",
    allocator: "分配器用时长",
    network: "它的传输用时更长",
    unknown: "没有单一的原因",
  },
  causeName: {
    input: "输入",
    slow_compute: "计算慢",
    more_work: "工作更多",
    slow_operator: "算子慢",
    late_launches: "启动晚",
    allocator: "分配器",
    network: "网络",
    unknown: "未知",
  },
  rank: (name) => `Rank ${name}`,
  onHost: (name, host) => `${host} 上的 ${name}`,

  tiles: {
    ranks: "Rank 数",
    ranksHelp: "已读取跟踪的 rank 数，以及作业的全部 rank 数。",
    of: (present, expected) => `${present} / ${expected}`,
    ofAll: (expected) => `共 ${expected} 个`,
    nodes: (n) => `在 ${n} 个节点上`,
    loading: (n) => `${n} 个正在读取`,
    failed: (n) => `${n} 个失败`,
    missing: (n) => `缺少 ${n} 个`,
    step: "每步时间",
    stepHelp: "所有 rank 与它们共有的步的中位数。",
    steps: (n) => `${n} 步`,
    wait: "暴露的等待",
    waitHelp:
      "每步中 rank 在集合通信里等待其他 rank 且没有计算的时间；所有 rank 的平均值。至少需要两个 rank：所有 rank 同时离开集合通信，因此最后到达的没有等待。",
    transfer: "暴露的传输",
    transferHelp: "每步中 rank 传输数据且没有计算的时间；所有 rank 的平均值。",
    hidden: "被掩盖",
    hiddenHelp: "每步中 rank 一边计算一边通信的时间；所有 rank 的平均值。",
    ofStep: (share) => `占每步的 ${share}`,
    oneRank: "从一个 rank 无法得知",
    unmatched: "没有集合通信可以匹配",
    slowest: "最慢的 rank",
    slowestHelp: "集合通信之间自身时间比同类长得最多的 rank，仅在确定时给出。其中不含等待。",
    nobody: "无",
    nobodyRemark: "没有落后的 rank",
    later: "全部读取之后",
    lost: "不均衡造成的损失",
    lostHelp:
      "去掉所有慢的 rank 比同类多用的时间后，每步会缩短多少：把所有 rank 一起重放得出。各自单独能节省多少见慢 rank 表。",
    notCompared: "未知",
  },

  byNode: {
    title: (metric) => `按节点的${metric}，与中位数之差`,
    summary: (metric, ranks, nodes) =>
      `${nodes} 个节点上 ${ranks} 个 rank 的${metric}，以与中位数之差表示。数值见 rank 表。`,
    help: "按节点和节点内位置为每个 rank 画一块：在下方所选的指标上，其均值与所有 rank 的中位数相差多少。慢的 rank 带边框。单击一块选择它的 rank。",
    node: "节点",
    rank: "Rank 编号",
    nodeNumber: (n) => `节点 ${n}`,
  },

  heat: {
    title: "Rank × 步",
    help: "每个 rank 和每步一个单元格；颜色越深（深色页面中越亮）值越大。空间不够时多个 rank 共用一行，显示其中最大的值。远离该步中位数的单元格带边框。单击单元格选择它的 rank 和步。",
    metric: "颜色",
    order: "行的次序",
    metrics: {
      step_ns: "每步时间",
      compute_ns: "计算",
      exposed_wait_ns: "暴露的等待",
      exposed_transfer_ns: "暴露的传输",
      own_ns: "自身时间",
      input_ns: "输入",
      host_ns: "主机",
      memory_bytes: "内存",
    },
    orders: { rank: "Rank", node: "节点", value: "值" },
    step: "步",
    keys: "方向键在单元格之间移动，Home 和 End 到行首和行尾，Enter 选择该 rank 和步。",
    summary: (metric, ranks, steps, least, most) =>
      `${ranks} 个 rank 在 ${steps} 步中的${metric}，从 ${least} 到 ${most}。数值在 rank 表中。`,
    cell: (rank, step, value) => `${rank}，步 ${step}：${value}`,
    merged: (ranks, steps) =>
      steps === "1"
        ? `最多 ${ranks} 个 rank 共用一行。`
        : `最多 ${ranks} 个 rank 和 ${steps} 步共用一个单元格。`,
    outliers: (n) => `${n} 个离群值`,
    empty: "没有记录这一项。",
    reason: "没有任何 rank 在任何一步中有这个指标。",
    noSteps: "这些 rank 没有共同的步。",
  },

  show: {
    trace: (view) => `在${view}中显示`,
    both: (view) => `在${view}中一起显示`,
    compare: "与典型的 rank 比较",
  },

  stragglers: {
    title: "慢的 rank",
    help: "按集合通信之间的自身时间：从 rank 与其他 rank 一起做的事情全部结束，到它的下一次集合通信开始。其中没有等待，也不会继承等待。在大多数步中远离同类（集合通信序列相同的 rank）的 rank 会被点名。",
    none: "没有一个 rank 明显比同类工作得更久。",
    later: "所有 rank 读取之后才会指出谁比同类工作得更久。",
    one: "只有一个 rank，没有同类可以比较。",
    rank: "Rank",
    host: "主机",
    late: "每步多用",
    lateHelp:
      "每步比同类的中位数多用的时间：一步的自身时间、某次集合通信之前的自身时间，或内核、主机多用的时间，取最能说明问题的一项。“所有 rank”表中的迟到是一步的自身时间。",
    far: (z, n) => `${z < 3.5 ? "正常" : z < 10 ? "偏离" : "偏离很大"}（${n}）`,
    z: "与同类相比（z）",
    zHelp:
      "相当于同类的多少个稳健标准差，取最大的一项；“所有 rank”表中的 z 属于一步的自身时间。同类少于三个时为空。",
    steps: "步",
    stepsHelp: "在比较的步中，有多少步明显偏慢。",
    stepsOf: (n, all) => `${n} / ${all}`,
    cause: "原因",
    where: "位置",
    saving: "可节省",
    noSaving: "无",
    beside: (rank) => `下方是一个典型的 rank：${rank}`,
    savingHelp:
      "只去掉这个 rank 的延迟时，所有 rank 的每步会缩短多少：把所有 rank 一起重放得出。其他 rank 同样慢时为“无”。",
    before: (what) => `在 ${what} 之前`,
    actions: "查看",
    listed: (n) => `${n} 个 rank 有延迟，但不算慢`,
    more: (n) => `还有 ${n} 个`,
    doubt: {
      "": "",
      few_steps: "步数太少，不能确定",
      few_peers: "同类太少，不能确定",
      small: "太小，无关紧要",
      loading: "还没有读取所有 rank",
    },
    links: "慢的链路",
    link: (group, ratio, kind, extra) =>
      `${group}：${kind} 用时是同类进程组的 ${ratio} 倍，每步多 ${extra}`,
    pair: (a, b) => `在 rank ${a} 与 ${b} 之间`,
    ranksOf: (ranks) => `rank ${ranks}`,
  },

  missing: {
    title: "部分 rank 缺少的集合通信",
    help: "进程组的其他成员调用了这些集合通信，而有些成员没有记录：各个 rank 可能在那里走散，程序会挂起。",
    item: (name, group, where) => `${group} 的 ${name}${where}`,
    step: (step) => `，步 ${step}`,
    sequence: (n) => `，序号 ${n}`,
    lacks: (ranks) => `rank ${ranks} 缺少它`,
    inexact: "几个相同的之一",
    stops: "该进程组之后再没有通信：可能在那里挂起",
  },

  representatives: {
    title: "代表",
    help: "代表其他所有 rank 的 rank：其余每个 rank 的每步时间、计算、通信和输入都与其中一个相近。看了这些就等于看了全部。",
    like: (n) => (n === "1" ? "只代表自己" : `代表 ${n} 个`),
    slow: "慢",
  },

  sections: {
    label: "章节",
    stragglers: "慢 rank",
    pipeline: "流水线",
    collectives: "集合通信",
    layout: "布局",
    tables: "表格",
  },

  collectives: {
    title: "集合通信",
    help: "在各个 rank 之间匹配，每次对所有 rank 只计一次。传输是全部到齐之后任一 rank 所需的最短时间；其余是等待。单击一行，在相应 rank 的跟踪中显示等待最久的那次调用。",
    empty: "没有记录到集合通信",
    emptyReason: "没有任何跟踪包含集合通信。",
    alike: (n, role) => `${n} 个相似的组：${role}`,
    all: (n) => `显示全部 ${n} 行`,
    fold: "折叠相似的行",
    link: { within_node: "节点内", between_nodes: "节点间", unknown: "未知" },
  },

  ranges: {
    title: "程序命名的范围",
    help: "每个 record_function 以及 torch 和框架的每个范围，在各 rank 上的情况：中位的 rank，以及与其他 rank 相差很远的 rank。在等待其他 rank 的范围中，迟到的 rank 用时最少。在上方选择一个步时，只针对该步。单击一行，显示该范围在每个 rank 上的情况。",
    onEach: (name) => `${name}：各 rank`,
    onEachInStep: (name, step) => `${name}：各 rank，步 ${step}`,
    leftOut: (n) => `省略了 ${n} 个用时更短的名称。`,
    times: { host: "主机", device: "设备", exposed: "暴露" },
  },

  scatter: {
    title: "大小与带宽",
    help: "每种大小、集合通信种类和进程组种类一个点：大小 ÷ 传输时间的中位数。曲线是稳健拟合的 t = α + S ÷ β：α 是大小为零时的延迟，β 是很大时的带宽。单击一个点显示其中等待最久的调用。",
    series: (kind, role, n, link) => [`${kind}，${role} ${n}`, link].filter(Boolean).join("，"),
    summary: (n) => `${n} 种集合通信的带宽与大小。`,
    size: "大小",
    bandwidth: "带宽",
    transfer: "传输",
    busbw: "总线带宽",
    calls: "调用",
    which: "集合通信",
    fit: "拟合",
  },

  layout: {
    title: "进程组与并行布局",
    help: "并行布局的各个维度，由程序对进程组的命名和它们的 rank 推断得出。",
    roles: {
      dp: "数据并行",
      tp: "张量并行",
      pp: "流水线并行",
      ep: "专家并行",
      cp: "上下文并行",
      world: "所有 rank",
      unknown: "未知",
    },
    dimension: (role, size) => `${role} ${size}`,
    stride: (n) => `间隔 ${n}`,
    nodes: (nodes, ranks) => `${nodes} 个节点，每个最多 ${ranks} 个 rank`,
    oneNode: (ranks) => `1 个节点，${ranks} 个 rank`,
    none: "跟踪中没有多个 rank 的进程组。",
    groups: "进程组",
  },

  pipeline: {
    title: (step) => `流水线各阶段，步 ${step}`,
    help: "流水线各阶段在一步中的工作，每个阶段由一个 rank 代表，从它自己的步开始计时。气泡是对其他阶段的等待。单击在该 rank 的时间线上显示这次 send 或 recv；气泡通往它的步。",
    stage: (n, ranks) => `阶段 ${n}（${ranks}）`,
    kinds: { work: "工作", wait: "等待", transfer: "传输" },
    start: "开始",
    duration: "时长",
    stageColumn: "阶段",
    kind: "内容",
    summary: (stages, bubble) => `${stages} 个阶段；气泡最多占每步的 ${bubble}。`,
    bubbles: "气泡",
    bubble: (stage, share, ns) => `阶段 ${stage}：${share}，${ns}`,
  },

  moe: {
    title: "专家均衡",
    help: "各部分不等的 all-to-all：部分最大的 rank 发送的数据是平均值的多少倍。1 表示均衡。单击进程组，显示该 rank 最大的一次。",
  },

  fsdp: {
    title: "分片参数",
    help: "参数的 all-gather 与梯度的 reduce-scatter（FSDP、ZeRO）：是否足够早地发起而被掩盖。单击进程组，显示发起最晚的那次 all-gather。",
    yes: "是",
    no: "否",
  },

  table: {
    title: "所有 rank",
    help: "每个 rank 各步的中位数。单击一行，为所有视图选择该 rank。",
  },

  details: {
    title: "每个 rank 的步与操作",
    help: "每个 rank 各步的组成和操作，以柱形图和表格显示。rank 很多时答案很大：打开时才请求。",
    open: (n) => `显示 ${n} 个 rank 的细节`,
  },
};
