import type { ServerMessages } from "../values";

/** Columns of memory and of its snapshots, for `serverColumns.ts`. */
export const memoryColumns: ServerMessages["columns"] = {
  "memory.name": ["算子", "算子的名称。"],
  "memory.calls": [
    "调用次数",
    "在时间范围内被调用的次数，无论该次调用是否改变内存；对整个跟踪而言与“算子”视图相同。",
  ],
  "memory.size_increase": [
    "内存增量",
    "该算子及其调用的全部内容所分配的字节数之和 − 所释放的字节数之和。释放得更多时为负。同一算子的嵌套调用只计一次。",
  ],
  "memory.self_size_increase": [
    "自身内存增量",
    "由算子自己（不含它调用的算子）分配的字节数之和 − 释放的字节数之和。",
  ],
  "memory.allocation_count": ["分配次数", "该算子及其调用的全部内容的分配次数。"],
  "memory.self_allocation_count": [
    "自身分配次数",
    "由算子自己（不含它调用的算子）进行的分配次数。",
  ],
  "memory.allocation_size": [
    "分配大小",
    "该算子及其调用的全部内容所分配的字节数之和，不减去释放的字节数。",
  ],
  "memory.self_allocation_size": [
    "自身分配大小",
    "由算子自己（不含它调用的算子）分配的字节数之和，不减去释放的字节数。",
  ],
  "memory.device": ["设备", "内存所在之处：CPU，或者设备的类型和编号。"],
  "memory.operator": [
    "算子",
    "进行此次分配的最内层算子；若在算子之外或在采集开始之前分配，则为空。",
  ],
  "memory.parent": ["调用者", "包围该算子的算子或标注；可看出 aten::empty 的用途。"],
  "memory.bytes": ["大小", "此次分配的字节数，以分配器的统计为准。"],
  "memory.alloc_ns": ["分配时间", "分配的时刻，从跟踪开始算起；若在采集开始之前分配，则为空。"],
  "memory.release_ns": [
    "释放时间",
    "释放的时刻，从跟踪开始算起；没有记录时为空。分配器可能将所释放的内存继续保留为已预留的内存。",
  ],
  "memory.duration_ns": ["存活时间", "释放时间 − 分配时间。"],
  "memory.time_ns": ["时间", "距跟踪开始的时间。"],
  "snapshot.line": ["分配位置", "调用栈中自己代码的最内层帧，否则为最内层帧。"],
  "snapshot.size": ["每个的大小", "每个请求的字节数；不相同时为空。"],
  "snapshot.blocks": ["分配次数", "使用中的分配有多少个。"],
  "snapshot.bytes": ["请求", "程序要求的字节数之和。"],
  "snapshot.block_bytes": ["块", "其块的字节数之和：分配器取整后的请求。"],
  "snapshot.difference": ["差值", "比对比时刻多请求的字节数；那时更多则为负。"],
  "snapshot.median_ns": ["生命期中位数", "从分配到释放的时间的下中位数。"],
  "snapshot.longest_ns": ["最长生命期", "从分配到释放的最长时间。"],
  "snapshot.at_peak": ["峰值时", "峰值时使用的请求字节数。"],
  "snapshot.at_end": ["结束时", "结束时未释放的请求字节数。"],
  "snapshot.churn": ["短暂分配", "超过 1 MiB 且在 100 µs 内释放的分配次数。"],
  "snapshot.in_backward": ["在反向中", "调用栈中有自动求导引擎时为 1，否则为 0。"],
  "snapshot.lifetimes.blocks": ["分配次数", "记录期间的分配次数。"],
  "snapshot.stacks.id": ["编号", "代表从最外层到此处的各帧。"],
  "snapshot.stacks.parent": ["上级", "调用者所在的行；最外层为 -1。"],
  "snapshot.stacks.name": ["名称", "帧的 file(line): function。"],
  "snapshot.stacks.self_bytes": ["自身", "由它自己分配且使用中的请求字节数。"],
  "snapshot.stacks.total_bytes": ["总计", "自身 + 直接下级各项的总计之和。"],
  "snapshot.stacks.blocks": ["分配次数", "由它自己分配的个数。"],
  "snapshot.stacks.folded": ["合并", "合在此处的项数；其他为 0。"],
};
