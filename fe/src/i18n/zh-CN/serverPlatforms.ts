/** Clauses of advice for CUDA, as they are said for other devices. */
import type { Clauses } from "../values";

const NO_LOADING: Clauses = [
  ["，或在启动时全部加载：`CUDA_MODULE_LOADING=EAGER`", ""],
  ["，或设置 `CUDA_MODULE_LOADING=EAGER`", ""],
];
const NO_GRAPHS: Clauses = [
  [
    '`torch.cuda.set_sync_debug_mode("warn")` 会指出每一行等待的代码。',
    "`with_stack=True` 会显示等待的代码行。",
  ],
  [
    '`torch.compile(model, mode="reduce-overhead")` 把它们作为 CUDA 图启动。',
    "`torch.compile(model, fullgraph=True)` 会编译全部，或说明为何不能。",
  ],
  ["实例化一次 CUDA 图，循环中只调用 `graph.replay()`", "实例化一次图，循环中只启动它"],
];
const EXPANDABLE = "`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`";

export const platforms: Readonly<Record<string, Clauses>> = {
  rocm: [...NO_LOADING, ["CUDA 图", "HIP 图"], ["Tensor Core", "矩阵核心"]],
  xpu: [
    ...NO_LOADING,
    ...NO_GRAPHS,
    [`请尝试 ${EXPANDABLE}，再考虑更小的批`, "请考虑更小的批"],
    [
      `请在程序启动前设置 ${EXPANDABLE}，使空闲内存不再是装不下任何东西的碎片。若仍如此，说明内存几乎用满：请用`,
      "内存几乎用满，或空闲内存是装不下任何东西的碎片：请填充到少数几种大小，再用",
    ],
    [`请在程序启动前设置 ${EXPANDABLE}。如果`, "如果"],
    [
      `请查看此 rank 的内存：${EXPANDABLE} 可避免步内的分配。`,
      "请查看此 rank 的内存是否几乎用满。",
    ],
    ["Tensor Core", "矩阵引擎"],
  ],
  npu: [...NO_LOADING, ...NO_GRAPHS, ["Tensor Core", "Cube 单元"]],
  other: [...NO_LOADING, ...NO_GRAPHS],
};
