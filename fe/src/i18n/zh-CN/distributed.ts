import type { distributed as en } from "../en/distributed";

export const distributed: typeof en = {
  what: "个 rank",
  rank: "Rank",
  worker: "Worker",

  chosen: (worker, step) => `显示 ${worker} 的步 ${step}`,
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

  run: {
    loaded: (n) => `全部 ${n} 个 rank 一起重放`,
    partly: (n, all) => `${all} 个 rank 中的 ${n} 个一起重放`,
    loadedHelp: "集合通信在这些 rank 中最后一个到达时开始。它的代价包含对没有加载的 rank 的等待。",
    help: "整个运行中损失时间的原因：节省最多的在前，之后每一项是在其上各项之外节省最多的。节省的时间是所有 rank 的平均每步会缩短的时间，通过去掉该原因后一起重放所有 rank 得出；每一项都在其上方各项之后计算，因此可以相加。",
    none: (n) => `${n} 条关于多个 rank 的规则都没有找到损失时间的原因。`,
  },

  overlap: "计算/通信概览",
  overlapHelp:
    "每个 rank 的每步时间用在哪里。四个部分之和严格等于每步时间。三角形标出被点名为慢的 rank。",
  waits: "同步/通信概览",
  waitsHelp:
    "由该步调用的通信操作运行的时间，分为等待其他 rank 和传输数据两部分。其中一部分可能被计算掩盖。",

  operations: {
    title: "通信操作统计",
    worker: "操作所属的 worker",
    allWorkers: "所有 worker",
    group: "进程组",
    allGroups: "所有进程组",
    waitShare: "等待 %",
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
};
