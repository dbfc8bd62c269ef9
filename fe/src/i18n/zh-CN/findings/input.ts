import type { FindingWords } from "../../values";
import { howOften, mebibytes, ms, percent } from "../numbers";

const rounded = (n: unknown, digits = 3) => Number(Number(n).toPrecision(digits));

const WAYS: Readonly<Record<string, string>> = {
  to_device: "到设备",
  to_host: "到主机",
  on_device: "在设备内部",
};

const SMALL_COPIES: Readonly<Record<string, string>> = {
  to_device:
    "请在主机上把这些值放入一个张量，一次拷贝，再取其视图：`torch.tensor(values, pin_memory=True).to(device, non_blocking=True)`。常量在循环之前拷贝一次即可。",
  to_host: "请在设备上把这些值收集到一个张量（`torch.stack(…)`），再用一次 `.cpu()` 拷贝。",
  on_device:
    "请用一次调用拷贝一组张量：`torch._foreach_copy_(targets, sources)`；或从一开始就把结果写入一个张量（`out=`、`torch.cat`）。",
  buffers:
    "DistributedDataParallel 在每次前向中为广播而拷贝模型的缓冲区：若各 rank 的缓冲区不必一致，`DistributedDataParallel(…, broadcast_buffers=False)` 可省去它们。",
  gradients:
    "DistributedDataParallel 把梯度拷贝到桶中再拷回：`DistributedDataParallel(…, gradient_as_bucket_view=True)` 使梯度成为桶的视图。",
};

const ALLOCATOR: Readonly<Record<string, readonly [why: string, advice: string]>> = {
  off: [
    "几乎每个张量都向驱动申请内存",
    "缓存分配器被关闭：请取消 `PYTORCH_NO_CUDA_MEMORY_CACHING`（在 ROCm 上还有 `PYTORCH_NO_HIP_MEMORY_CACHING`），它只用于调试。",
  ],
  emptied: [
    "缓存的内存在算子之间被归还",
    "请从循环中去掉 `torch.cuda.empty_cache()`：它归还的内存，下一步又要重新申请。",
  ],
  full: [
    "缓存的内存不适合所申请的大小",
    "内存几乎用满，或者大小每步变化，因此缓存的块被释放以腾出空间：请尝试 `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`，再考虑更小的批或梯度检查点。",
  ],
  retried: [
    "缓存中没有所申请的空间，先把缓存归还给了驱动",
    "请在程序启动前设置 `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`，使空闲内存不再是装不下任何东西的碎片。若仍如此，说明内存几乎用满：请用更小的批或梯度检查点。",
  ],
};

export const findings: Record<string, FindingWords> = {
  dataloader: {
    title: "各步在等待输入数据",
    detail: ({ share, p95_ns, workers }) =>
      `平均每步有 ${percent(share)} 的时间用于等待${workers ? " DataLoader 工作进程的" : ""}下一批数据；每二十批中有一批需要 ${ms(p95_ns)} 或更久。`,
    advice: ({ workers }) =>
      workers
        ? "工作进程跟不上：请在处理器核数允许的范围内调大 `num_workers`，并设置 `persistent_workers=True`；若只有个别批较慢，再调大 `prefetch_factor`。减少每个样本的处理，或只处理一次并保存结果。"
        : "请通过 `DataLoader(…, num_workers=4, persistent_workers=True)` 读取管道，使批在各步之外准备。减少每个样本的处理，或只处理一次并保存结果。",
  },
  input_annotation: {
    title: "各步在等待输入数据",
    detail: ({ share, name, batch_ns }) =>
      `平均每步有 ${percent(share)} 的时间处于 ${name} 中，每次 ${ms(batch_ns)}，位于运行各步的线程上。`,
    advice: () =>
      "请在各步之外准备下一批：像 `DataLoader(…, num_workers=4)` 那样用工作进程；若耗时的不是 Python，也可用带短队列的线程。",
  },
  synchronous_dataloader: {
    title: "准备批时各步在等待",
    detail: ({ share, batch_ns, device }) =>
      `DataLoader 没有工作进程：平均每步有 ${percent(share)} 的时间用于准备批，每批 ${ms(batch_ns)}，此时${device ? "设备" : "模型"}在等待。`,
    advice: ({ on_device }) =>
      on_device
        ? "数据集在设备上启动工作，工作进程无法这样做：请让它返回主机张量，在 DataLoader 之后对整批做这些工作，然后设置 `num_workers`。"
        : "请用工作进程加载批：`DataLoader(…, num_workers=4, persistent_workers=True)`。减少每个样本的处理，或只处理一次并保存结果。",
  },
  worker_stalls: {
    title: "工作进程成批地交付数据",
    detail: ({ period, stall_ns, usual_ns }) =>
      `每 ${period} 批中有一批需要 ${ms(stall_ns)}，其他批 ${ms(usual_ns)}：${period} 个工作进程同时完成，各步在下一组批准备好之前已用完它们。`,
    advice: ({ period }) =>
      `若有空闲的处理器核，请把 \`num_workers\` 调大到 ${period} 以上，或减少每个样本的处理。仅调大 \`prefetch_factor\` 不会使批更早准备好。`,
  },
  dataloader_restart: {
    title: "每个 epoch 都重新启动工作进程",
    detail: ({ each_ns, times, steps }) =>
      `DataLoader 的一个新迭代器耗时 ${ms(each_ns)}：启动工作进程，并等待第一批。${steps} 步中发生了 ${times} 次。`,
    advice: () =>
      "请让工作进程在 epoch 之间保留：`DataLoader(…, persistent_workers=True)`。若 epoch 很短，可让一个迭代器跨越多个 epoch。",
  },
  pageable_input: {
    title: "数据从可分页内存拷贝",
    detail: ({ bytes, ns, rate }) =>
      `每步有 ${mebibytes(bytes)} 从可分页内存拷贝到设备：${ms(ns)}，速率 ${rounded(rate)} GB/s，主机在等待它。`,
    advice: ({ loader }) =>
      loader
        ? "请设置 `DataLoader(…, pin_memory=True)`，并用 `batch.to(device, non_blocking=True)` 拷贝。"
        : "请把要拷贝的数据放在锁页内存中（`torch.empty(…, pin_memory=True)`，只分配一次），并用 `.to(device, non_blocking=True)` 拷贝。",
  },
  exposed_copies: {
    title: "拷贝没有被掩盖",
    detail: ({ ns, bytes, hidden, to_device }) =>
      `每步有 ${ms(ns)} 设备只在${to_device ? "从主机" : "向主机"}拷贝（${mebibytes(bytes)}）；这些拷贝的时间中有 ${percent(hidden, 0)} 同时有内核运行。`,
    advice: ({ to_device }) =>
      to_device
        ? "请在处理当前批时拷贝下一批：`with torch.cuda.stream(side): nxt = batch.to(device, non_blocking=True)`，使用前调用 `torch.cuda.current_stream().wait_stream(side)`。"
        : "请在单独的流上拷贝到锁页内存：先 `side.wait_stream(torch.cuda.current_stream())`，再 `with torch.cuda.stream(side): host.copy_(result, non_blocking=True)`，并在一个事件之后读取。",
  },
  tiny_copies: {
    title: "大量小拷贝",
    detail: ({ count, way, name, bytes }) =>
      `每步有 ${rounded(count)} 次${WAYS[String(way)]}的拷贝（${name}），每次 ${rounded(Number(bytes) / 1024, 2)} KiB，来自同一处：启动它们比拷贝本身更费时。`,
    advice: ({ whose, way }) =>
      SMALL_COPIES[whose === "program" ? String(way) : String(whose)] ?? "",
  },
  pageable_output: {
    title: "向可分页内存的拷贝使主机停住",
    detail: ({ ns, step_ns, call, bytes, copies_ns }) =>
      `每步（${ms(step_ns)}）有 ${ms(ns)} 主机处于 ${call} 中，它在 ${mebibytes(bytes)} 到达主机的可分页内存之后才返回；其中拷贝占 ${ms(copies_ns)}，其余是在等待设备。`,
    advice: () =>
      "若结果只用于累加或平均，请把它留在设备上。否则请拷贝到只分配一次的锁页内存，`host.copy_(x, non_blocking=True)`，并在一步之后、一个事件之后读取。",
  },
  allocator_churn: {
    title: ({ why }) =>
      why === "retried" ? "分配器内存不足，释放了已缓存的内存" : "每步都重新分配设备内存",
    detail: ({ calls, steps, ns, step_ns, call, waits, why }) =>
      `${howOften(calls, steps)}分配或释放设备内存的调用，占 ${ms(step_ns)} 中的 ${ms(ns)}${waits ? "（含等待设备）" : ""}，其中最多的是 ${call}：${ALLOCATOR[String(why)]?.[0] ?? ""}。`,
    advice: ({ why }) => ALLOCATOR[String(why)]?.[1] ?? "",
  },
  host_allocation: {
    title: "每步都重新分配锁页内存",
    detail: ({ calls, steps, call, ns, step_ns }) =>
      `${howOften(calls, steps)}分配、释放或注册锁页内存的调用（其中有 ${call}），占 ${ms(step_ns)} 中的 ${ms(ns)}。`,
    advice: () =>
      "请在循环之前分配一次锁页缓冲区（`torch.empty(…, pin_memory=True)`），再拷贝到其中。对于批，`DataLoader(…, pin_memory=True)` 在单独的线程中完成。",
  },
};

export const evidence: Record<string, (gpu: number | null) => string> = {
  loading_per_step: () => "此范围，每步平均",
  batch_p50: () => "一批，中位数",
  batch_p95: () => "一批，第 95 百分位",
  idle_meanwhile: () => "此时所有设备空闲，每步平均",
  stall_period: () => "两次停顿之间的批数",
  stalls: () => "停顿次数",
  restart_cost: () => "一个新迭代器",
  restarts: () => "各步中的新迭代器",
  copies_per_step: () => "这些拷贝，每步平均",
  copied_bytes: () => "字节，每步平均",
  copies_exposed: () => "其中没有内核运行的时间",
  copy_count: () => "拷贝次数，每步平均",
  copy_calls: () => "主机处于其调用中，每步平均",
  blocked_per_step: () => "主机处于这些调用中，每步平均",
  allocator_per_step: () => "这些调用，每步平均",
  allocations: () => "分配次数，每步平均",
  releases: () => "释放次数，每步平均",
  pinned_calls: () => "调用次数，每步平均",
};

export const links: Record<string, string> = {
  data_loading: "单进程与多进程数据加载",
  tuning_data_loading: "性能调优指南：数据加载",
  dataloader_arguments: "DataLoader：persistent_workers",
  cuda_streams: "CUDA 流",
  tuning_synchronization: "性能调优指南：避免不必要的 CPU-GPU 同步",
  ddp_arguments: "DistributedDataParallel",
  memory_management: "CUDA 内存管理",
};
