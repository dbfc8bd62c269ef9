import type { flame as en } from "../en/flame";

export const flame: typeof en = {
  role: "火焰图",
  keys: "方向键在方块之间移动，Enter 放大，Esc 返回上一层，Home 显示全部。",
  zoom: "缩放",
  everything: "全部",
  between: (n) => `… 另有 ${n} 层 …`,
  legend: "颜色",
  kinds: {
    frame: "Python",
    builtin: "Python（内置）",
    module: "模块",
    annotation: "标注",
    operator: "算子",
    device: "设备工作",
    communication: "通信",
    copy: "拷贝或置位",
    other: "其他",
    smaller: "合并的较小项",
  },
  found: (n, share) => `找到 ${n} 项，占所示内容的 ${share}`,
  foundNone: "在所示内容中没有找到",
};
