import type { ServerMessages } from "../values";
import { columns, platforms, words } from "./server/words";

/** Before the id of a column: see `Definition` of the server. */
const sides: ServerMessages["sides"] = {
  baseline: (label, help) => [`基线 ${label}`, `基线：${help}`],
  experiment: (label, help) => [`实验 ${label}`, `实验：${help}`],
  delta: (label, help) => [`Δ ${label}`, `实验 − 基线：${help}`],
};

export const serverMessages: ServerMessages = {
  columns,
  sides,

  platforms,
  words,

  counters: {
    busy: "设备忙碌",
    computing: "计算中",
    sm_efficiency: "估算 SM 效率",
    kernels_running: "正在运行的内核",
    queue_length: "已启动未开始",
    memcpy_bandwidth: "拷贝带宽",
    exposed_communication: "暴露的通信",
    memory_allocated: "已分配内存",
    memory_reserved: "已预留内存",
    recorded: "文件中的计数器",
  },
};
