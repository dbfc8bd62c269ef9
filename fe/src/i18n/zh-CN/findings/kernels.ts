import type { FindingWords } from "../../values";
import { percent } from "../numbers";

const LIMITS: Readonly<Record<string, string>> = {
  registers: "寄存器",
  shared_memory: "共享内存",
  threads: "线程块的大小",
};

export const findings: Record<string, FindingWords> = {
  tf32: {
    title: ({ what }) => (what === "conv" ? "卷积没有使用 TF32" : "矩阵乘法没有使用 TF32"),
    detail: ({ what, share }) =>
      `计算内核时间的 ${percent(share)} 是在普通核心上以 32 位计算的${what === "conv" ? "卷积" : "矩阵乘法"}，没有一个使用 Tensor Core，而此 GPU 有可用于它们的 Tensor Core。`,
    advice: ({ what }) =>
      what === "conv"
        ? "请设置 `torch.backends.cudnn.allow_tf32 = True`，这是 torch 的默认值：程序中有代码将其关闭。"
        : '请在模型运行之前调用 `torch.set_float32_matmul_precision("high")`：TF32 保留 32 位的数值范围，精度为 10 位。',
  },
  tensor_cores: {
    title: "乘积以 32 位计算",
    detail: ({ share, twice }) =>
      `占计算内核时间 ${percent(share, 0)} 的内核对 32 位的数做矩阵乘法或卷积；Tensor Core 以 16 位计算可以${twice ? "快至两倍" : "快数倍"}。`,
    advice: ({ half, training }) => {
      const dtype = half === "fp16" ? "float16" : "bfloat16";
      const autocast = `\`torch.autocast("cuda", dtype=torch.${dtype})\``;
      if (!training)
        return `请在 ${autocast} 下运行模型，或转换模型：\`model.to(torch.${dtype})\`。`;
      return half === "fp16"
        ? `请在 ${autocast} 下运行前向和损失，并用 \`torch.amp.GradScaler()\` 缩放损失。`
        : `请在 ${autocast} 下运行前向和损失；参数仍为 32 位。`;
    },
  },
  misaligned_products: {
    title: "矩阵乘法的尺寸不适合 Tensor Core",
    detail: ({ count, ms, sizes }) =>
      `${count} 次乘法每步共用 ${ms} ms，其内核每次只读取少数几个元素，因为矩阵的各行不从 16 字节的倍数处开始。${sizes ? `最长的一次是 ${sizes}（m × n × k）。` : ""}`,
    advice: () =>
      "请让特征数、类别数和词表大小为 8 的倍数（8 位类型为 16；64 更好），例如 `nn.Linear(hidden, 64 * math.ceil(classes / 64))`，再截取结果。",
  },
  slow_products: {
    title: "矩阵乘法远低于 GPU 的能力",
    detail: ({ count, share, reached, others, sizes }) =>
      `${count} 次乘法占平均每步的 ${percent(share)}，只达到峰值的 ${percent(reached, 0)}；此跟踪中的其他乘法达到 ${percent(others, 0)}。最长的一次是 ${sizes}（m × n × k）。`,
    advice: () =>
      '请让它们更大：增大批次，或把输入相同的层（例如 q、k、v）合并为一个 `nn.Linear`。`torch.compile(model, mode="max-autotune")` 会为每种尺寸尝试其他内核。',
  },
  skinny_products: {
    title: "矩阵乘法在等待权重",
    detail: ({ count, share, reached, sizes }) =>
      `${count} 次至多 16 行的乘法占平均每步的 ${percent(share)}：为少量的数读取全部权重，达到内存带宽的 ${percent(reached, 0)}。最长的一次是 ${sizes}（m × n × k）。`,
    advice: () =>
      "请把多个请求放入一个批次：权重只需读取一次。或以 8 位保存权重，此处的节省即按此计算：先 `torchao.quantization.quantize_(model, Int8WeightOnlyConfig())`，再 `torch.compile(model)`。",
  },
  few_blocks: {
    title: ({ what }) =>
      what === "tail" ? "最后一轮分块使 GPU 空闲" : "线程块太少的内核使 GPU 的大部分空闲",
    detail: ({ what, share, filled, lost, name, part }) =>
      what === "tail"
        ? `平均每步的 ${percent(share)} 用于这样的乘法：其分块先占满所有多处理器一轮或几轮，然后只占少数几个，因此损失其时间的 ${percent(lost, 0)}。`
        : `平均每步的 ${percent(share)} 用于只占用 ${percent(filled, 0)} 的多处理器的内核，同时没有其他内核运行：其中 ${percent(part, 0)} 在 ${name}。`,
    advice: ({ what }) =>
      what === "tail"
        ? '请选择略小的批次或宽度，使分块恰好占满各轮；`torch.compile(model, mode="max-autotune")` 会尝试其他的分块尺寸。'
        : "请让每次调用做更多工作：增大批次，或将多次调用合并为一次；`torch.compile(model)` 会把小的归约与其前后的计算合并。对自己的内核，请把工作分到更多线程块。",
  },
  low_occupancy: {
    title: "一个内核同时运行的 warp 很少",
    detail: ({ share, occupancy, limit, name }) =>
      `${name} 占平均每步的 ${percent(share)}，占用率为 ${percent(occupancy, 0)}，受限于${LIMITS[String(limit)] ?? ""}。`,
    advice: () =>
      "如果它在等待内存，请让更多 warp 运行：减少寄存器（`__launch_bounds__`），减小共享内存中的分块，在 Triton 中使用其他的 `num_warps`。",
  },
  layout: {
    title: ({ what }) =>
      what === "copies" ? "张量只为改变元素的次序而被拷贝" : "卷积在重新排列张量",
    detail: ({ what, count, share }) =>
      what === "copies"
        ? `平均每步的 ${percent(share)} 用于 \`contiguous\` 和 \`reshape\` 中的 ${count} 次拷贝：元素不变，只是之后按各维的次序存放。`
        : `${count} 个内核用各步时间的 ${percent(share)} 把张量在通道在前与通道在后之间来回转换，它们之间的卷积按后者计算。`,
    advice: ({ what }) =>
      what === "copies"
        ? "若下一个算子接受步长（如矩阵乘法和 `scaled_dot_product_attention`），请去掉 `.contiguous()`，以及 `.transpose()` 之后的 `.reshape()`。`torch.compile(model)` 会直接按所需的次序写出结果。"
        : "请一直保持后者：`model = model.to(memory_format=torch.channels_last)`，并在第一层之前 `x = x.to(memory_format=torch.channels_last)`。",
  },
  convolution_tuning: {
    title: "卷积在各步运行时尝试算法",
    detail: ({ count, steps, all_steps, kernels, share }) =>
      `${all_steps} 步中有 ${steps} 步共 ${count} 次卷积，每次运行多达 ${kernels} 个内核，以便为没有遇到过的尺寸找出最快的算法：占各步时间的 ${percent(share)}。`,
    advice: () =>
      "请让输入只有一种或少数几种尺寸：填充、裁剪、`DataLoader(…, drop_last=True)`。若尺寸必须变化，请设置 `torch.backends.cudnn.benchmark = False`。",
  },
  slow_compiled: {
    title: "编译出的内核读写缓慢",
    detail: ({ count, share, reached, name }) =>
      `${count} 种编译出的内核占平均每步的 ${percent(share)}，只以内存带宽的 ${percent(reached, 0)} 搬运张量；${name} 用时最多。`,
    advice: () =>
      '请尝试 `torch.compile(model, mode="max-autotune-no-cudagraphs")`，它会测量每个内核的多种运行方式。若仍如此，请看它是否读取转置的张量：此时在图之前调用 `.contiguous()` 有帮助。',
  },
};

export const evidence: Record<string, (gpu: number | null) => string> = {
  fp32_products: () => "普通核心上的 32 位乘积，每步",
  fp32_data: () => "32 位数的乘积，每步",
  share_of_compute: () => "占计算内核时间的比例",
  share_of_products: () => "占乘积时间的比例",
  misaligned: () => "行未对齐的乘法的时间，每步",
  product_efficiency: () => "达到峰值的比例",
  lost_in_products: () => "与其他乘法相比的损失，每步",
  skinny: () => "至多 16 行的乘法，每步",
  bandwidth_share: () => "达到峰值带宽的比例",
  few_blocks: () => "线程块很少的内核，每步",
  filled: () => "有线程块的多处理器",
  last_round: () => "最后一轮分块的损失，每步",
  occupancy: () => "占用率",
  kernel_time: () => "其时间，每步",
  layout_kernels: () => "重新排列的内核，每步",
  order_copies: () => "改变次序的拷贝，每步",
  tuned_calls: () => "尝试算法的卷积",
  tuned_time: () => "它们在主机上的时间，每步",
  compiled_bandwidth: () => "达到峰值带宽的比例",
  compiled_time: () => "这些内核的时间，每步",
};

export const links: Record<string, string> = {
  tf32: "TensorFloat-32",
  mixed_precision: "自动混合精度",
  matmul_dimensions: "矩阵乘法：适合 Tensor Core 的尺寸",
  matmul_background: "矩阵乘法的背景",
  quantization: "8 位权重",
  wave_quantization: "分块与轮次",
  occupancy: "占用率",
  channels_last: "channels_last 内存格式",
  tensor_views: "张量视图",
  cudnn_benchmark: "torch.backends.cudnn.benchmark",
  compile_modes: "torch.compile 的模式",
};
