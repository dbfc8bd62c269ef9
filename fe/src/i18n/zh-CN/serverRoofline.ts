import type { ServerMessages } from "../values";

/** Columns about FLOP and bytes, for `serverColumns.ts`. */
export const rooflineColumns: ServerMessages["columns"] = {
  "roofline.name": ["名称", "算子、内核、模块或代码行，取决于表的分组。"],
  "roofline.input_shape": ["输入形状", "各输入的形状，每个参数一个列表。"],
  "roofline.element": [
    "乘的类型",
    "内核所乘的元素类型，由内核名得知，否则由输入得知：其峰值就是屋顶。没有矩阵运算时为空；有几种时取 FLOP 最多的。",
  ],
  "roofline.calls": ["调用次数", "拥有设备工作的算子调用次数，以及复制次数。对内核为运行次数。"],
  "roofline.time_ns": ["时间", "Σ 属于它的内核、复制和填充的时长，不含通信。"],
  "roofline.flops": [
    "FLOP",
    "由输入形状算出的矩阵 FLOP：一次乘加计两个，softmax、偏置和激活不计；因果掩码只计其保留的部分。一次调用的各内核按时长分摊其 FLOP。",
  ],
  "roofline.bytes": [
    "字节数",
    "至少要读写的字节数：输入和结果的每个不同元素各计一次。复制为跟踪中记录的值。",
  ],
  "roofline.intensity": ["FLOP/字节", "FLOP ÷ 字节数，限两者都已知的部分；没有 FLOP 时为空。"],
  "roofline.flop_rate": ["每秒 FLOP", "FLOP ÷ 有 FLOP 的调用的时间；没有 FLOP 时为空。"],
  "roofline.byte_rate": ["字节/s", "字节数 ÷ 字节数已知的时间。"],
  "roofline.roof_ns": [
    "屋顶时间",
    "Σ 每次调用的最短时间：FLOP ÷ 元素类型的峰值与字节数 ÷ 内存带宽中较长者，与主机之间的复制按链路计；若调用本身达到 2 µs，则不少于 2 µs。",
  ],
  "roofline.lost_ns": ["损失", "Σ 每次调用比屋顶时间多出的部分。同时运行的内核的损失相加。"],
  "roofline.roof_share": [
    "达到屋顶的",
    "屋顶时间 ÷ 时间，限两者都已知的部分。大于 1 的原因见“高于屋顶”。",
  ],
  "roofline.bound": [
    "受限于",
    "大部分时间里屋顶时间由什么决定：计算、内存、链路，或启动（不足 2 µs）。",
  ],
  "roofline.tensor_cores": [
    "张量核心",
    "矩阵运算在大部分时间里：使用；或设备虽有却未用的原因：32 位（TF32 关闭或设备没有）、64 位、对齐（行首不在 16 字节处）、分组、太小、其他。",
  ],
  "roofline.below_wave": ["不足一波", "线程块少于设备多处理器数的内核所占的时间比例。"],
  "roofline.above": [
    "高于屋顶",
    "若有调用比屋顶快 5 % 以上，其原因：其他算法（Winograd、FFT）、缓存（全部放得进末级缓存）、步长（没有记录，输入可能是扩展出来的）、原因不明。",
  ],
  "roofline.known": ["已知", "屋顶时间已知的时间比例。"],
  "roofline.sure": [
    "得知方式",
    "FLOP 和字节数得知方式中最不确定的：精确（参数）、推得（其他事件）、界限（至少或至多）、估计、已记录。",
  ],
  "roofline.worst_row": ["损失最多的事件", "损失最多的内核或复制的事件编号；未知时为最长的一个。"],
  "roofline.worst_start_ns": ["其开始时刻", "它开始的时刻，距跟踪开始。"],
  "roofline.worst_ns": ["其时长", "它的时长。"],
  "operators.flop_rate": [
    "每秒 FLOP",
    "由输入形状算出的矩阵 FLOP ÷ 其自身内核的时间。没有 FLOP 或形状不足以得知时为空。",
  ],
  "operators.byte_rate": [
    "字节/s",
    "由输入形状算出的至少要读写的字节数 ÷ 其自身内核的时间。形状不足以得知时为空。",
  ],
  "kernels.flop_rate": [
    "每秒 FLOP",
    "启动它的调用的矩阵 FLOP（由形状算出，按时间分摊）÷ 它的时间。没有 FLOP 的内核和形状不足以得知时为空。",
  ],
  "kernels.byte_rate": [
    "字节/s",
    "其调用至少要读写的字节数（由形状算出，按时间分摊）÷ 它的时间。形状不足以得知时为空。",
  ],
};
