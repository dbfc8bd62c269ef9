import type { utilization as en } from "../en/utilization";

export const utilization: typeof en = {
  mfu: "MFU",
  mfuHelp: "模型 FLOP 利用率：模型所需 FLOP ÷ 其元素类型的峰值 ÷ 各步时间 ÷ 设备数。",
  hfu: "HFU",
  hfuHelp: "硬件 FLOP 利用率：同上，但计入实际执行的全部 FLOP，包括重算。",
  busy: "计算时的 MFU",
  busyHelp: "仅计有计算内核运行的时间：慢内核会降低它，设备空闲不会。",
  perStep: "每步 FLOP",
  perStepHelp: "平均每步模型所需的矩阵 FLOP。",
  products: "已知的矩阵运算",
  productsHelp: "FLOP 已知的矩阵运算的时间 ÷ 它与未知部分之和。",
  bytes: "已知的字节数",
  bytesHelp: "最少字节数已知的内核、拷贝和置位所占的时间比例。",
  coverage: (known) => `矩阵运算的 ${known} 已知`,
  range: (low, high) => `${low} 到 ${high}`,
  atLeast: (value) => `≥ ${value}`,
  notKnown: "未知",
  executed: (flop) => `实际执行 ${flop}`,
  estimated: (share) => `另有 ${share} 为估计`,
};
