import type { FindingWords, Values } from "../../values";
import { howOften, ms, percent } from "../numbers";

const whole = (value: Values[string] | undefined) => Number(value).toFixed(0);
const us = (value: Values[string] | undefined) => `${Number(value).toFixed(1)} µs`;

const WARM_UP = "`schedule(wait=1, warmup=2, active=3)`";
const COPY_BACK =
  '请不等待地拷贝到锁页内存：`host = torch.empty_like(x, device="cpu", pin_memory=True)`、`host.copy_(x, non_blocking=True)`、`event.record()`，只在用到这些值的地方调用 `event.synchronize()`。';
const SYNC: Record<string, string> = {
  value:
    "请把值留在设备上：`total += loss.detach()`，每隔若干步才读取一次：`if step % 50 == 0: print(total.item())`。",
  value_inference:
    "请把值留在设备上，攒到一起再读：每隔若干个 token 才检查序列是否结束，或在最后一次性拷贝：`torch.stack(values).tolist()`。",
  condition:
    "请在设备上选择：`torch.where(condition, a, b)`，或每隔若干步才检查：`if tensor:` 和 `torch.equal(a, b)` 会等待结果。",
  grad_scaler:
    "`GradScaler` 要读取梯度中是否有无穷大。使用 `fused=True` 的优化器在设备上检查；使用 `torch.bfloat16` 则不需要缩放。",
  copy_back: COPY_BACK,
  copy_to:
    "请不等待地拷贝：`x.pin_memory().to(device, non_blocking=True)`，或直接在设备上创建张量：`torch.full(size, value, device=device)`。",
  device:
    "请不要在循环中调用 `torch.cuda.synchronize()`；测量时间请用 `torch.cuda.Event(enable_timing=True)`，并在最后一步之后读取。",
  stream:
    "请让流之间互相等待，而不是让主机等待：`stream.wait_event(event)`。只有在主机用到值时才等待，并且越晚越好。",
  runtime:
    "请让引擎晚些等待：先启动下一批，再等待这一批的结果；用异步拷贝到锁页内存，并在用到结果时等待事件。",
  operator:
    '`torch.cuda.set_sync_debug_mode("warn")` 会指出每一行等待的代码。算子需要的大小和数值，请在主机上用 Python 数，或在设备上用张量。',
};
const DYNAMIC: Record<string, string> = {
  assign: "请保持大小固定：`x = torch.where(mask, value, x)` 或 `x.masked_fill_(mask, value)`。",
  mask: "请保持大小固定：用 `torch.where(mask, x, 0)` 代替 `x[mask]`；平均值是 `(x * mask).sum() / mask.sum()`。",
  repeat: "请给出大小，程序大多知道它：`torch.repeat_interleave(x, repeats, output_size=n)`。",
  bincount:
    "请用已知的个数计数：`torch.zeros(n, dtype=torch.long, device=x.device).scatter_add_(0, x, torch.ones_like(x))`。",
  unique: "请在准备批次时于主机上完成，或放到 DataLoader 的工作进程中。",
  nonzero:
    "请保持大小固定：已知大小时用 `torch.nonzero_static(x, size=n)`，否则用 `torch.where(mask, a, b)`。",
};
const CALLS: Record<string, string> = {
  graph: "请在循环之前为每种形状捕获并实例化一次 CUDA 图，循环中只调用 `graph.replay()`。",
  module: `请在各步之前加载内核：用所有形状预热，${WARM_UP}，或设置 \`CUDA_MODULE_LOADING=EAGER\`。`,
  query:
    "请不要在循环中轮询：`event.synchronize()` 等待时不占用核心，`stream.wait_event(event)` 让设备等待。",
  setup: `设备在第一次调用其 API 时初始化。请在预热之后采集：${WARM_UP}；服务器请在接收请求之前先使用一次设备。`,
  event: "事件请只创建一次并重复使用；只记录有人等待的事件。",
  other: "请在跟踪视图中查看是谁进行这些调用，能否在循环之前只做一次。",
};
const LAUNCHES: Record<string, string> = {
  training:
    '请一次启动许多内核：`model = torch.compile(model, mode="reduce-overhead")` 把它们作为 CUDA 图重放，`fused=True` 使优化器成为一个内核。更大的批让每个内核做更多的工作。',
  inference:
    '请一次启动许多内核：`model = torch.compile(model, mode="reduce-overhead")`，或为每种批大小用 `torch.cuda.graph(graph)` 捕获前向计算并调用 `graph.replay()`。一批中处理更多请求让每个内核做更多的工作。',
  compile:
    "请启动更少而更长的内核：`model = torch.compile(model)` 把许多内核合成一个，`fused=True` 使优化器成为一个内核。更大的批让每个内核做更多的工作。",
  npu: "请让模型作为一个图运行：`torch.compile(model, backend=torchair.get_npu_backend())`。更大的批让每个内核做更多的工作。",
};
const DISPATCH: Record<string, string> = {
  training:
    "请减少算子调用：`torch.compile(model)` 把许多算子合成一个，优化器的 `fused=True` 或 `foreach=True` 一次更新所有参数。",
  inference:
    "请减少算子调用：`torch.compile(model)` 把许多算子合成一个，更大的批让每个算子做更多的工作。`torch.inference_mode()` 使每次调用更短。",
  compiled:
    '程序的一部分已经编译：`torch.compile(model, mode="reduce-overhead")` 把它们作为 CUDA 图启动。`TORCH_LOGS=graph_breaks` 会指出编译的代码在哪些行结束、算子从哪里开始逐个运行。',
};

export const findings: Record<string, FindingWords> = {
  sync_points: {
    title: ({ what }) => `主机在 ${what || "其他算子"} 中等待设备`,
    detail: ({ what, times, steps, waited_ns, share }) =>
      `${what ? `\`${what}\`` : "其他算子"} ${howOften(times, steps)}让主机停下，直到设备完成：${ms(waited_ns)}，占平均每步的 ${percent(share)}。`,
    advice: ({ how }) => SYNC[String(how)] ?? "",
  },
  host_code: {
    title: "设备等待主机上的代码",
    detail: ({ name, more, spent_ns, step_ns }) =>
      `\`${name}\`${more ? " 等算子" : ""}在运行各步的线程上每步耗时 ${ms(spent_ns)}（一步为 ${ms(step_ns)}），其间没有在设备上启动任何工作。`,
    advice: ({ training }) =>
      training
        ? "请在各步之外进行：放到由 `DataLoader(dataset, num_workers=4)` 读取的数据集的 `__getitem__` 中，或减少次数。对张量的计算可以在设备上进行：先执行 `x = x.to(device, non_blocking=True)`。"
        : "请在设备工作时进行：用单独的线程或进程为下一个输入做这件事，中间用一个短队列。对张量的计算可以在设备上进行：先执行 `x = x.to(device, non_blocking=True)`。",
  },
  logging_reads: {
    title: "日志每步都在等待设备",
    detail: ({ logger, times, steps, waited_ns, share }) =>
      `\`${logger}\` ${howOften(times, steps)}读取设备上的值；主机为此等待 ${ms(waited_ns)}，占平均每步的 ${percent(share)}。`,
    advice: () =>
      "请每隔若干步才记录：`if step % 50 == 0: print(loss.item())`，其间在设备上累加：`total += loss.detach()`。",
  },
  dynamic_shapes: {
    title: ({ operator }) => `${operator} 等待其结果的大小`,
    detail: ({ operator, times, steps, waited_ns, share }) =>
      `\`${operator}\` 的结果有多大，只有设备知道：主机${howOften(times, steps)}为此等待，${ms(waited_ns)}，占平均每步的 ${percent(share)}。`,
    advice: ({ how }) => DYNAMIC[String(how)] ?? "",
  },
  launch_blocking: {
    title: "每次启动都等待其内核完成",
    detail: ({ share, launches }) =>
      `${launches} 次启动超过 10 µs 的内核，其中 ${percent(share, 0)} 在内核完成后才返回：主机和设备从不同时工作。`,
    advice: ({ setting }) =>
      `请取消 \`${setting}\`：它用于查找错误。若没有设置，请查找在每个算子之后调用 \`torch.cuda.synchronize()\` 的代码。`,
  },
  anomaly_mode: {
    title: "异常检测处于打开状态",
    detail: ({ share, spent_ns }) =>
      `autograd 对 ${percent(share, 0)} 的节点检查 NaN，并等待每个结果：平均每步有 ${ms(spent_ns)} 用于这些检查。`,
    advice: () =>
      "正常运行时请去掉 `torch.autograd.set_detect_anomaly(True)` 或 `detect_anomaly()`：它用于查找产生 NaN 的算子。",
  },
  launch_bound: {
    title: "设备在等待短内核的启动",
    detail: ({ launches, kernel_us, busy, waiting }) =>
      `每步 ${whole(launches)} 次启动，内核平均 ${us(kernel_us)}：设备有 ${percent(busy, 0)} 的时间忙碌，${percent(waiting, 0)} 的时间等待下一次启动。`,
    advice: ({ how }) => LAUNCHES[String(how)] ?? "",
  },
  first_launches: {
    title: "内核在各步之内首次启动时才加载",
    detail: ({ kernels, spent_ns, longest_ns, usual_us }) =>
      `${kernels} 次内核的首次启动共用 ${ms(spent_ns)}，最长 ${ms(longest_ns)}；一次启动通常用 ${us(usual_us)}。`,
    advice: () =>
      `请在预热之后采集：${WARM_UP}。服务器请在第一个用户之前发送所有形状的请求，或在启动时全部加载：\`CUDA_MODULE_LOADING=EAGER\`。`,
  },
  api_calls: {
    title: ({ call }) => `各步的时间用在 ${call} 上`,
    detail: ({ call, times, steps, spent_ns, share, longest_ns }) =>
      `\`${call}\` ${howOften(times, steps)}被调用，用时 ${ms(spent_ns)}，占平均每步的 ${percent(share)}；最长的一次 ${ms(longest_ns)}。`,
    advice: ({ how }) => CALLS[String(how)] ?? "",
  },
  host_dispatch: {
    title: "算子使主机忙碌，设备在等待",
    detail: ({ share, operators, named, busy }) =>
      `主机每步有 ${percent(share, 0)} 的时间在 ${whole(operators)} 个算子中，最多的是 ${named}，而设备有 ${percent(busy, 0)} 的时间忙碌。`,
    advice: ({ how }) => DISPATCH[String(how)] ?? "",
  },
  garbage_collection: {
    title: "垃圾回收拖慢各步",
    detail: ({ times, steps, longest_ns, spent_ns, share }) =>
      `Python 在 ${steps} 步中回收垃圾 ${times} 次，最长 ${ms(longest_ns)}：平均每步 ${ms(spent_ns)}，占 ${percent(share)}。`,
    advice: ({ how }) =>
      how === "called"
        ? "请把 `gc.collect()` 移出循环；释放张量不需要它，张量随最后一个引用消失。"
        : "请在最初几步之后调用 `gc.collect()` 和 `gc.freeze()`，使长期存在的对象不再被检查；或用 `gc.disable()`，每几百步调用一次 `gc.collect()`。",
  },
  tensor_loop: {
    title: "Python 循环逐个取出张量的元素",
    detail: ({ operators, rounds, spent_ns, share }) =>
      `同样的 ${operators} 个算子（首先是 \`aten::select\`）连续运行多达 ${rounds} 次：${ms(spent_ns)}，占平均每步的 ${percent(share)}。`,
    advice: () =>
      "请对整个张量计算：用 `y = f(x)` 代替 `for i in range(len(x)): y[i] = f(x[i])`，或使用 `torch.vmap(f)(x)`。若每一轮需要上一轮的结果，请使用 `torch.nn.LSTM` 之类的融合层或 `torch.compile`。",
  },
  thread_contention: {
    title: "同时启动内核的线程互相阻碍",
    detail: ({ threads, beside_us, alone_us }) =>
      `${threads} 个线程同时启动内核：与其他启动同时进行时一次用 ${us(beside_us)}，单独时用 ${us(alone_us)}。`,
    advice: () =>
      "请像 `DistributedDataParallel` 那样每个进程只用一个线程启动，或由一个线程把所有线程的工作排入队列。必须使用多个线程时，请用 `taskset`、`numactl` 把它们绑定到各自的核心。",
  },
  zero_grad: {
    title: "梯度被填充为零",
    detail: ({ fills, host_ns, device_ns, on_device }) =>
      `\`zero_grad\` 每步填充梯度 ${whole(fills)} 次：主机上 ${ms(host_ns)}${on_device ? `，设备上 ${ms(device_ns)}` : ""}。`,
    advice: () =>
      "请释放梯度：`optimizer.zero_grad(set_to_none=True)`，torch 2.0 起这是默认值。反向计算便直接写入梯度，而不必相加。",
  },
  profiler_overhead: {
    title: "性能分析器本身占用各步的时间",
    detail: ({ share, spent_ns, name }) =>
      `平均每步的 ${percent(share)}（${ms(spent_ns)}）是性能分析器的工作，主要是 \`${name}\`：没有它各步会更短。`,
    advice: () =>
      `请在预热之后采集更少的步：${WARM_UP}。时间重要时请不要使用 \`with_stack\`、\`record_shapes\` 和 \`profile_memory\`。`,
  },
};

export const evidence: Record<string, (gpu: number | null) => string> = {
  waiting_per_step: () => "主机等待，每步平均",
  waits_per_step: () => "每步的等待次数",
  longest_wait: () => "最长的等待",
  blocking_launches: () => "等待其内核的启动",
  launches: () => "超过 10 µs 的内核的启动",
  in_launches: () => "这些调用的时间，每步平均",
  checked_nodes: () => "被检查的反向节点",
  checks_per_step: () => "检查，每步平均",
  device_busy: () => "设备忙碌",
  waiting_for_launches: () => "启动造成的短间隙",
  mean_kernel: () => "计算内核的平均时长",
  launches_per_step: () => "每步的启动次数",
  in_operators: () => "主机用于算子的时间，占每步的比例",
  self_time_of: () => "该算子每步自身的时间",
  first_launches: () => "缓慢的首次启动",
  in_first_launches: () => "其中的时间，所有步",
  usual_launch: () => "一次启动通常用时",
  call_per_step: () => "此调用的时间，每步平均",
  host_code_per_step: () => "这段代码，每步平均",
  calls_per_step: () => "每步的调用次数",
  longest_call: () => "最长的调用",
  gc_per_step: () => "垃圾回收，每步平均",
  longest_gc: () => "最长的回收",
  gc_runs: () => "回收次数",
  loop_per_step: () => "这些循环的时间，每步平均",
  rounds_per_step: () => "每步的循环轮数",
  loops: () => "各步中的循环",
  launching_threads: () => "启动内核的线程",
  launch_beside_others: () => "与其他启动同时进行时的中位数",
  launch_alone: () => "单独启动的中位数",
  fills_per_step: () => "每步填充梯度的次数",
  zero_grad_on_host: () => "主机上，每步",
  zero_grad_on_device: () => "设备上，每步",
  profiler_per_step: () => "性能分析器，每步平均",
};

export const links: Record<string, string> = {
  sync_debug_mode: "torch.cuda.set_sync_debug_mode",
  pinned_memory: "锁页内存与 non_blocking",
  asynchronous_execution: "异步执行",
  avoid_synchronization: "避免 CPU 与 GPU 之间不必要的同步",
  anomaly_detection: "异常检测",
  cuda_graphs: "CUDA 图",
  lazy_loading: "延迟加载",
  torch_compile: "torch.compile",
  python_gc: "gc：垃圾回收器",
  vmap: "torch.vmap",
  cpu_affinity: "NUMA 与 CPU 亲和性",
  zero_grad: "Optimizer.zero_grad",
  profiler_schedule: "torch.profiler.schedule",
  profiler_recipe: "PyTorch Profiler",
};
