import type { hang as en } from "../en/hang";

export const hang: typeof en = {
  question: "作业为何挂起",
  questionHelp: `所有 rank 的飞行记录器转储合起来说明的情况（docs/hang.md）。

每个 rank 以其第一个未完成的调用为准。被等待而自己不等待任何 rank 的，就是让作业停住的 rank。“进入”指主机已提交；“完成”指该 rank 的监视线程已看到。不比较各 rank 的时间，因为时钟不同。`,
  dumps: (read, ranks) => `${ranks} 个 rank 中有 ${read} 个留下了可以读取的转储。`,
  named: "让作业停住的 rank",
  namedColumns: ["Rank", "情况", "调用", "组", "代码行", "依据"],
  kinds: {
    host_stopped: "主机停住",
    device_stopped: "设备停住",
    desync: "调用不同",
    deadlock: "死锁",
    missing: "没有转储",
  },
  lastFinished: (call) => `最后完成：${call}`,
  inTrace: "在跟踪中显示",
  inTraceHelp: "此 rank 的跟踪中组和编号相同、且算子和大小一致的调用。",

  waits: "谁在等待谁",
  waitsHelp: "在同一调用中等待相同 rank 的 rank 共用一个方框。连线指向其所等待的 rank。",
  waitsSummary: (boxes, named) => `${boxes} 组 rank；停住的：${named}`,
  rankNames: (ranks) => `Rank ${ranks}`,
  inCall: (call, group) => `${group} 的 ${call}`,
  noCall: "没有未完成的调用",
  forRanks: (ranks) => `等待：${ranks}`,
  forNobody: "转储没有显示它在等待谁",
  more: (n) => `另有 ${n} 组见下方的表。`,

  ranks: "各 rank 的最后一次调用",
  rankColumns: ["Rank", "状态", "调用", "组", "代码行", "等待"],
  unfinished: "未完成",
  finished: "已完成",

  groups: "进程组",
  groupsHelp: "在任一成员未完成的第一个调用中，各成员进行到哪里。",
  groupColumns: ["组", "调用", "Rank", "已完成", "已进入", "未进入", "未知"],

  leftOut: "未使用的文件",
  leftOutColumns: ["文件", "原因"],
  rest: (n) => `另有 ${n} 行：torch-tb-profiler hang --json 会列出全部。`,
};
