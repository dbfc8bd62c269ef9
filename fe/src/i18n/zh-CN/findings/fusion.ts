import type { FindingWords, Values } from "../../values";
import { decimalGibibytes, howOften, mebibytes, ms, percent } from "../numbers";

const count = (value: Values[string] | undefined, digits = 0) => Number(value).toFixed(digits);
const microseconds = (ns: Values[string] | undefined, digits = 1) =>
  `${(Number(ns) / 1e3).toFixed(digits)} µs`;

const NORMS: Record<string, readonly [string, string]> = {
  rms_norm: ["RMS norm", "torch.nn.functional.rms_norm(x, (x.shape[-1],), weight, eps)"],
  layer_norm: [
    "Layer norm",
    "torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias, eps)",
  ],
  softmax: ["Softmax", "torch.softmax(x, dim=-1)"],
};

export const findings: Record<string, FindingWords> = {
  pointwise_chain: {
    title: "成串的逐元素内核",
    detail: ({ share, kernels, per_chain }) =>
      `每步有 ${count(kernels)} 个逐元素内核（占时间的 ${percent(share)}）在同样大小的张量上依次运行，每串 ${count(per_chain, 1)} 个：每个都要读写整个张量。`,
    advice: () =>
      '请用 `model = torch.compile(model)` 把每一串合成一个内核；对自己的函数，在其上方加 `@torch.compile` 即可。如果 torch 有对应的单个算子（`F.gelu(x, approximate="tanh")`、`torch.addcmul`、`F.silu`），请直接调用。',
  },
  unfused_norm: {
    title: ({ kind }) => `${NORMS[String(kind)]?.[0] ?? kind} 由许多内核组成`,
    detail: ({ share, calls, steps, per_call }) =>
      `${howOften(calls, steps)}计算，每次用 ${count(per_call, 1)} 个内核，每个算子一个：占一步的 ${percent(share)}。`,
    advice: ({ kind }) =>
      `请调用只需一个内核的 \`${NORMS[String(kind)]?.[1] ?? kind}\`，或编译所在的模块：\`torch.compile(module)\`。`,
  },
  unfused_optimizer: {
    title: "优化器逐个更新参数",
    detail: ({ optimizer, kernels, mean_ns }) =>
      `\`${optimizer}.step\` 每步启动 ${count(kernels)} 个内核，平均 ${microseconds(mean_ns)}，每个只处理一个张量。`,
    advice: ({ optimizer, implementation }) =>
      implementation === "fused"
        ? `请使用 \`torch.optim.${optimizer}(…, fused=True)\`，一个内核处理许多参数。没有它的 torch 版本请用 \`foreach=True\`，1.12 之前用 \`torch.optim._multi_tensor.${optimizer}\`。`
        : implementation === "foreach"
          ? `请使用 \`torch.optim.${optimizer}(…, foreach=True)\`：一个算子处理许多参数。`
          : "请在其中使用 `torch._foreach_…` 算子，或编译它：`step = torch.compile(optimizer.step)`。",
  },
  optimizer_share: {
    title: "优化器占一步的很大部分",
    detail: ({ host_ns, device_ns, on_device, step_ns }) =>
      `\`Optimizer.step\` 每步占用主机 ${ms(host_ns)}${on_device ? `，其内核 ${ms(device_ns)}` : ""}；一步为 ${ms(step_ns)}。`,
    advice: ({ fused }) =>
      `${fused ? "" : "如果优化器支持，请在其参数中写 `fused=True`。"}减少更新次数：累积几个批次的梯度（\`if i % 2: optimizer.step(); optimizer.zero_grad()\`），这会使批变大。`,
  },
  unfused_attention: {
    title: "注意力没有融合",
    detail: ({ share, calls, steps }) =>
      `注意力${howOften(calls, steps)}由乘积、softmax、乘积算出，占一步的 ${percent(share)}，其权重要经过设备内存。`,
    advice: () =>
      '请调用 `torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=…, dropout_p=…)`，因果掩码用 `is_causal=True` 代替。Transformers：`from_pretrained(…, attn_implementation="sdpa")`。',
  },
  attention_math: {
    title: "注意力没有使用融合内核",
    detail: ({ share, inputs }) =>
      `\`scaled_dot_product_attention\` 走的是由单个算子组成的路径（math），占一步的 ${percent(share)}${inputs ? `（${inputs}）` : ""}。`,
    advice: () =>
      "请在 `with torch.nn.attention.sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION]):` 中调用，它会报出原因。常见原因：掩码需要梯度或类型与 query 不同、输入类型不一致、head 的大小不合适、嵌套张量。",
  },
  conv_bias: {
    title: "批归一化之前的卷积加了偏置",
    detail: ({ convolutions, spent_ns }) =>
      `每步有 ${count(convolutions)} 个卷积加偏置，用 ${ms(spent_ns)}，随后的批归一化又随均值将其减去。`,
    advice: ({ training }) =>
      training
        ? "请把这些层写成 `nn.Conv2d(…, bias=False)`。"
        : "请把批归一化并入卷积：`torch.nn.utils.fusion.fuse_conv_bn_eval(conv.eval(), bn.eval())`。",
  },
  recompiles: {
    title: ({ again }) => (again ? "代码被重新编译" : "在采集的步中编译了代码"),
    detail: ({ compilations, steps, of, share, again, again_ns }) =>
      `${of} 步中的 ${steps} 步有 ${compilations} 次编译，占时间的 ${percent(share, 0)}${again ? `；其中 ${again} 次（每步 ${ms(again_ns)}）是为其他输入重新编译已编译过的代码` : ""}。`,
    advice: ({ again, once }) =>
      again
        ? `\`TORCH_LOGS=recompiles\` 会说明原因。如果是大小变化，请声明：\`torch._dynamo.mark_dynamic(x, 0)\` 或 \`torch.compile(model, dynamic=True)\`，或把批填充到同一大小。${once ? "每段代码的首次编译，只要在采集之前先运行几步就已完成：`schedule(warmup=3, …)`。" : ""}`
        : "请在采集之前先运行几步：`schedule(wait=1, warmup=3, active=3)`。在生产环境中保留编译结果：把 `TORCHINDUCTOR_CACHE_DIR` 设为一个持久的目录。",
  },
  graph_breaks: {
    title: "编译的代码被图中断打断",
    detail: ({ breaks, steps, share, lines }) =>
      `编译的代码${howOften(breaks, steps)}回到 Python，再进入另一个图${lines ? `（在 ${lines} 之后）` : ""}；一步的 ${percent(share, 0)} 在编译区域内，却不在任何图中。`,
    advice: () =>
      "`torch.compile(model, fullgraph=True)` 会在第一个中断处失败并说明原因。常见原因：`print`、`.item()`、对张量值的 `if`；请使用 `torch.where` 或 `torch.cond`，并在外面记录日志。",
  },
  recompute: {
    title: "内存有余，却重新计算激活值",
    detail: ({ share, used }) =>
      `各步时间的 ${percent(share, 0)} 用于在反向传播中再次运行前向传播的算子，而内存只用了 ${percent(used, 0)}。`,
    advice: () =>
      "请对更少的块使用检查点，例如隔一块一次，或保留计算代价高的部分：`checkpoint(block, x, use_reentrant=False, context_fn=…create_selective_checkpoint_contexts)`。",
  },
  unused_memory: {
    title: "设备的大部分内存没有使用",
    detail: ({ used, capacity_bytes, gpu, small, small_ns }) =>
      `GPU ${gpu} 的 ${decimalGibibytes(capacity_bytes, 1)} 最多预留了 ${percent(used, 0)}，短于 ${microseconds(small_ns, 0)} 的内核占其计算时间的 ${percent(small, 0)}：它们没有填满设备。`,
    advice: () =>
      "请尝试更大的批，`DataLoader(…, batch_size=2 * batch_size)`，并相应调整学习率；每秒样本数应会上升。若不上升，则内存不是这里的限制。",
  },
  fragmentation: {
    title: "设备内存碎片化",
    detail: ({ times, device, unused_bytes, share }) =>
      `分配器 ${times} 次预留了更多 ${device} 的内存，尽管有多达 ${decimalGibibytes(unused_bytes, 2)}（已预留的 ${percent(share, 0)}）空闲，但都是太小的碎块。`,
    advice: () =>
      "请在程序启动前设置 `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`。如果大小随批次变化，请填充到少数几种大小。",
  },
  memory_growth: {
    title: "内存逐步增长",
    detail: ({ mean_bytes, device, first_bytes, last_bytes, steps }) =>
      `每步结束时 ${device} 比前一步结束时多用 ${mebibytes(mean_bytes)}：第一步之后为 ${mebibytes(first_bytes, 4)}，${steps} 步中的最后一步之后为 ${mebibytes(last_bytes, 4)}。`,
    advice: () =>
      "请保存数值，而不是带有计算图的张量：`losses.append(loss.detach())`，或每隔几步 `total += loss.item()`。实例是已分配而未释放的内存。",
  },
  grad_recorded: {
    title: "推理时记录了梯度图",
    detail: ({ nodes }) =>
      `每步算子为反向传播的图添加 ${count(nodes)} 个节点，却没有反向传播：为此保留的内容会一直占用内存，直到结果被释放。`,
    advice: () => "请在 `with torch.inference_mode():` 中运行。仅 `model.eval()` 并不会这样做。",
  },
  expert_loop: {
    title: "专家逐个运行",
    detail: ({ layers, steps, experts, kernels, mean_ns }) =>
      `${howOften(layers, steps)}循环遍历 ${count(experts)} 个专家，共 ${count(kernels)} 个内核，平均 ${microseconds(mean_ns)}。`,
    advice: () =>
      '请按专家对 token 排序，一次乘完所有专家：`torch.nn.functional.grouped_mm(tokens, weights, offs=offsets)`（bfloat16）。Transformers：`from_pretrained(…, experts_implementation="grouped_mm")`。',
  },
  gathered_experts: {
    title: "为每个 token 拷贝专家的权重",
    detail: ({ calls, steps, share }) =>
      `${howOften(calls, steps)}在乘积之前用索引收集专家的权重：一步的 ${percent(share)} 用于拷贝它们。`,
    advice: () =>
      "请按专家对 token 排序，并直接与原处的权重相乘：`torch.nn.functional.grouped_mm(tokens, weights, offs=offsets)`。",
  },
};

export const evidence: Record<string, (gpu: number | null) => string> = {
  fusible_groups: () => "可由一个内核完成的组，每步",
  fusible_kernels: () => "其中的内核，每步",
  fusible_ns: () => "这些内核的时间，每步",
  optimizer_kernels: () => "优化器的内核，每步",
  optimizer_ns: () => "优化器内核的时间，每步",
  optimizer_host_ns: () => "主机上的优化器，每步",
  compilations: () => "各步中的编译次数",
  compile_ns: () => "编译，每步",
  graph_breaks: () => "图中断，每步",
  outside_graphs_ns: () => "在编译区域内而在图之外，每步",
  recompute_ns: () => "再次运行的内核，每步",
  memory_used: () => "最多预留的内存占设备的比例",
  small_kernels: () => "短内核所占的计算时间",
  unused_reserved: () => "再次预留时已预留而空闲的内存",
  most_reserved: () => "最多预留的内存",
  growth: () => "每步多用的内存",
  in_use_at_end: () => "最后一步结束时使用的内存",
  graph_nodes: () => "图的节点，每步",
  expert_kernels: () => "专家的内核，每步",
  expert_ns: () => "专家内核的时间，每步",
};

export const links: Record<string, string> = {
  compile_tutorial: "torch.compile 入门",
  rms_norm: "rms_norm",
  layer_norm: "layer_norm",
  softmax: "softmax",
  sdpa: "scaled_dot_product_attention",
  sdpa_kernel: "sdpa_kernel",
  optimizers: "优化器的实现",
  conv_bias: "批归一化之前的卷积",
  recompilation: "重新编译",
  graph_breaks: "查找并消除图中断",
  selective_checkpointing: "选择性激活检查点",
  batch_size: "批大小与矩阵大小",
  expandable_segments: "分配器的设置",
  memory_faq: "模型报告内存不足",
  inference_mode: "推理模式",
  grouped_mm: "grouped_mm",
};
