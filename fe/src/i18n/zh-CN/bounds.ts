/** What bounds a run. */
import type { ServerMessages, Values } from "../values";
import { ms, percent } from "./numbers";

const NAMES: Readonly<Record<string, string>> = {
  input: "输入",
  sync: "同步",
  communication: "通信",
  memory: "拷贝",
  host: "主机",
  launch: "启动内核",
  compute: "计算",
};

const of = (begin: string) => (values: Values) => {
  const { share, before_ns, after_ns, next, only_in } = values;
  const comes = next === undefined ? "" : `其次是${NAMES[String(next)] ?? next}。`;
  const one = only_in === undefined ? "" : `其中几乎全部来自第 ${only_in} 步。`;
  return `${begin}每步将从 ${ms(before_ns)} 缩短到 ${ms(after_ns)}（减少 ${percent(share, 0)}）。${one}${comes}`;
};

/** What the time of the host goes to, where that is no Python and no operator. */
const HOST_BY: Readonly<Record<string, string>> = {
  calls: "主机限制了此次运行：它的时间花在调用设备的 API 上。若主机耗时减少三分之一，",
  compilation: "主机限制了此次运行：各步运行时还在编译代码。若不必编译，",
  unrecorded: "主机限制了此次运行：跟踪中只有它的调用和标注。若主机耗时减少三分之一，",
};

const WHY: Readonly<Record<string, string>> = {
  nothing: "没有单一的资源限制此次运行：单独减轻任何一种资源节省不到 2 %。",
  idle: "无法判断什么限制了此次运行：设备大部分时间空闲，而跟踪没有说明原因。",
  busy: "无法判断什么限制了此次运行：某个设备几乎一直忙碌，而跟踪没有说明是什么在等待它的内核。",
  no_launches: "无法判断什么限制了此次运行：设备上的许多工作没有记录启动它的调用。",
  foreign: "无法判断什么限制了此次运行：这不是 torch.profiler 的跟踪。",
  no_device: "无法判断什么限制了此次运行：程序使用的设备没有被采集。",
  lost_work: "无法判断什么限制了此次运行：许多启动的工作没有被记录。",
  clocks: "无法判断什么限制了此次运行：有工作在启动之前就已开始，时钟不一致。",
  unexplained: "无法判断什么限制了此次运行：关键路径的大部分在跟踪中没有原因。",
};

export const bounds: ServerMessages["bounds"] = {
  input: of("输入限制了此次运行：各步在等待数据。若不必等待，"),
  sync: of("同步限制了此次运行：主机停下来等待设备，随后设备又等待主机。若没有这些等待，"),
  communication: (values) => {
    if (!values.joint)
      return of("通信限制了此次运行：没有计算掩盖它。若没有通信以及其中对其他 rank 的等待，")(
        values,
      );
    const { loaded, world } = values;
    const partly =
      Number(loaded) < Number(world)
        ? `其中包含对没有加载的 rank 的等待：${world} 个中只有 ${loaded} 个。`
        : "";
    return `${of("通信限制了此次运行：没有计算掩盖传输。若没有传输，")(values)}${partly}`;
  },
  memory: of("拷贝限制了此次运行：步骤在等待拷贝。若没有拷贝，"),
  host: (values) =>
    of(
      HOST_BY[String(values.by)] ??
        (values.device
          ? "主机限制了此次运行：设备在等待 CPU 上的 Python 和算子。若它们的耗时减少三分之一，"
          : "Python 限制了此次运行。若它的耗时减少三分之一，"),
    )(values),
  launch: (values) =>
    of(
      values.calls
        ? "启动调用限制了此次运行：主机进行这些调用时，设备在等待。若没有它们，"
        : "启动限制了此次运行：设备在等待主机启动它的许多短内核。若主机耗时减少三分之一，",
    )(values),
  compute: (values) =>
    of(
      values.device
        ? "计算限制了此次运行：各步在等待内核。若内核快一倍，"
        : "计算限制了此次运行：CPU 上的算子。若算子快一倍，",
    )(values),
  unknown: ({ why }) => WHY[String(why)] ?? "无法判断什么限制了此次运行：跟踪没有说明。",
};
