import type { owners as en, OwnerWords } from "../en/owners";

const REASONS: Record<string, string> = {
  host_not_recorded: "未采集主机活动",
  before_recording: "在采集开始之前启动",
  no_correlation: "记录中没有关联 ID",
  launch_lost: "其启动记录已丢失",
  ambiguous: "可能由多个调用启动",
};

function words({ how, name, reason, launcher, english }: OwnerWords): string {
  if (reason !== null) return REASONS[reason] ?? english;
  if (name === null) return english;
  if (how === "annotated") return `已标注：${name}`;
  if (how === "graph_node") return `图重放：${name}`;
  if (how === "inferred") return `推断：${name}`;
  if (how === "thread") return `线程 ${name} 上的 ${launcher ?? ""}`;
  if (launcher?.includes("GraphLaunch") && how !== "operator") return `${name} 中的图重放`;
  if (how === "compiled") return `编译区域：${name}`;
  if (how === "module") return `模块：${name}`;
  return name;
}

export const owners: typeof en = {
  title: "不是由算子启动的设备工作",
  owner: "归属",
  more: (n, time) => `另有 ${n} 个归属：${time}`,
  evidence: { graph_node: "捕获自", inferred: "类同" },
  how: {
    operator: "启动调用",
    compiled: "编译区域或 Triton 启动",
    annotated: "图中内核的标注",
    graph_node: "图捕获",
    annotation: "标注",
    module: "模块",
    frame: "Python 栈帧",
    thread: "线程",
    inferred: "由已采集的步推断",
    none: "未知",
  },
  words,
};
