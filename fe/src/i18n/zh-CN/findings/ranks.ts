import type { FindingWords } from "../../values";
import { gibibytes, mebibytes, ms, percent } from "../numbers";
import { transferAdvice } from "../serverTransfers";

const PLACES: Readonly<Record<string, string>> = {
  python: "Python",
  operator: "CPU 上的算子",
  data: "加载数据",
  launch: "启动调用",
  blocking: "同步调用",
  allocator: "分配器调用",
  api: "设备 API 的调用",
  collective: "主机上的集合通信",
  kernels: "内核",
};

const LATE: Readonly<Record<string, string>> = {
  python:
    "请在调用栈视图中查看此 rank：只有一个 rank 所做的工作（日志、评估、检查点）应放到另一个进程中，或在步之后放在 `if rank == 0` 中。",
  operator:
    "请让所有 rank 的工作量相同：按长度对样本排序或分桶，丢弃或填充剩余的部分。若工作量相同，则此 rank 的 CPU 较慢或被共享：请查看 `numactl --hardware` 和 `top`。",
  data: "请让此 rank 的输入流水线与其他 rank 相同：`DataLoader(…, num_workers=…, prefetch_factor=…)`、大小相等的分片，以及同样近的存储。",
  launch:
    "请将每个 rank 绑定到其 GPU 附近的 CPU（`numactl --cpunodebind=… --membind=…`），并查看这些 CPU 上是否有其他进程。",
  allocator:
    "请查看此 rank 的内存：`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` 可避免步内的分配。",
  slower:
    "同样的内核在那里更慢：请用 `nvidia-smi -q -d CLOCK,TEMPERATURE,PERFORMANCE` 比较频率和温度，并查看该 GPU 上是否有其他进程。",
  more: "此 rank 的计算更多：请平衡批次（长度相等的样本、`DistributedSampler`）、流水线各段的层或各专家。",
};

export const findings: Record<string, FindingWords> = {
  straggler: {
    title: ({ worker }) => `${worker} 迟到，其他 rank 在等待它`,
    detail: (values) => {
      const { worker, steps, of, waited_ns, step_ns, place, excess_ns, name, name_ns } = values;
      const { late_ns, peers } = values;
      if (late_ns !== undefined) {
        const what = `更慢的是${PLACES[String(place)] ?? place}${name ? `，主要是 \`${name}\`` : ""}。`;
        return `${worker} 每步比做同样工作的 ${peers} 个 rank 多用 ${ms(late_ns)}，在 ${of} 步中的 ${steps} 步明显如此。${place === undefined ? "" : what}`;
      }
      const part = name_ns === undefined ? "" : `，其中 ${ms(name_ns)} 在 \`${name}\` 中`;
      const more =
        place === undefined
          ? ""
          : `它在${PLACES[String(place)] ?? place}上比处于中位数的 rank 多用 ${ms(excess_ns)}${part}。`;
      return `${worker} 在 ${of} 步中的 ${steps} 步最后到达：在 ${ms(step_ns)} 的一步中，处于中位数的 rank 比它多等待 ${ms(waited_ns)}。${more}`;
    },
    advice: ({ advice }) =>
      LATE[String(advice)] ?? "请在概览和算子视图中将此 rank 与另一个 rank 比较。",
  },
  slow_host: {
    title: ({ worker }) => `${worker} 的启动调用比相邻的 rank 慢`,
    detail: ({ mine_ns, middle_ns, calls }) =>
      `在 ${calls} 次调用中，那里的一次启动用 ${ms(mine_ns)}，同一主机上处于中位数的 rank 用 ${ms(middle_ns)}。`,
    advice: () =>
      "请将每个 rank 绑定到其 GPU 附近的 CPU（`numactl --cpunodebind=… --membind=…`），并查看这些 CPU 上是否有其他进程、频率是否过低（`cpupower frequency-info`）。",
  },
  waiting: {
    title: "各 rank 相互等待的时间多于传输的时间",
    detail: ({ wait_ns, share, transfer_ns, worker, most_ns }) =>
      `平均每步中，一个 rank 在集合通信中等待其他 rank ${ms(wait_ns)}（${percent(share, 0)}），传输只用 ${ms(transfer_ns)}；${worker} 等待最多，为 ${ms(most_ns)}。`,
    advice: () =>
      "请让各 rank 同时到达集合通信：使用同样大小的批次，并去掉在各 rank 上耗时不同的工作（加载数据、同步、垃圾回收）。更快的链路不会有所节省。",
  },
  exposed_transfer: {
    title: "各步在等待集合通信的传输",
    detail: ({ loaded, world, before_ns, after_ns }) => {
      const partly =
        Number(loaded) < Number(world)
          ? `其中包含对没有加载的 rank 的等待：${world} 个中只有 ${loaded} 个。`
          : "";
      return `若传输不用时间，所有 ${loaded} 个 rank 一起的每步将从 ${ms(before_ns)} 缩短到 ${ms(after_ns)}；对迟到的 rank 的等待不在其中。${partly}`;
    },
    advice: ({ sent }) => transferAdvice(sent),
  },
  uneven_all_to_all: {
    title: "All-to-all 交换不均衡",
    detail: ({ uneven, all, ratio, worker }) =>
      `在 ${all} 次 all-to-all 交换中的 ${uneven} 次，有一个 rank 移动的数据是平均值的 ${ratio} 倍，最常见的是 ${worker}：其他 rank 在等待它。`,
    advice: () =>
      "请平衡各专家：为路由器加辅助损失，限制每个专家的容量，或改变专家在 rank 上的放置。",
  },
  tiny_collectives: {
    title: "很小的集合通信过多",
    detail: ({ calls, kilobytes }) =>
      `每步有 ${calls} 次集合通信各自发送不到 ${kilobytes} KiB：无论发送多少，它们都要用去延迟的时间。`,
    advice: () =>
      "请一次发送多个张量：梯度放在桶中（`DistributedDataParallel(…, bucket_cap_mb=…)`），其他的用 `torch.cat` 合成一个张量。",
  },
  fp32_gradients: {
    title: "梯度以 32 位传输，而模型以 16 位计算",
    detail: ({ share, bytes, products }) =>
      `All-reduce 的字节中有 ${percent(share, 0)} 是 FP32，每步 ${mebibytes(bytes)}，而矩阵乘法和卷积的时间中有 ${percent(products, 0)} 是 16 位。`,
    advice: () =>
      "请只发送一半的字节：`model.register_comm_hook(None, torch.distributed.algorithms.ddp_comm_hooks.default_hooks.bf16_compress_hook)`。请检查损失是否仍在下降：许多 rank 的和会损失位数。",
  },
  unused_parameters: {
    title: "DDP 在每步中查找未使用的参数",
    detail: ({ calls, share }) =>
      `由于 \`find_unused_parameters=True\`，它遍历梯度的图 ${calls} 次，占各步的 ${percent(share)}。`,
    advice: () =>
      "若所有参数都被使用，请用 `DistributedDataParallel(model, find_unused_parameters=False)`；若每步中未使用的参数相同，请用 `static_graph=True`。",
  },
  late_gathers: {
    title: "FSDP 在需要权重时才收集它们",
    detail: ({ late, all, share }) =>
      `在 ${all} 次权重的 all-gather 中，有 ${late} 次没有同时进行计算：占各步的 ${percent(share)}。`,
    advice: () =>
      "请在此块计算时收集下一块的权重：`fully_shard` 的 `module.set_modules_to_forward_prefetch([…])`，或 `FullyShardedDataParallel(…, forward_prefetch=True, limit_all_gathers=True, backward_prefetch=BackwardPrefetch.BACKWARD_PRE)`。",
  },
  sync_batchnorm: {
    title: "SyncBatchNorm 多次交换统计量",
    detail: ({ calls }) => `每步有 ${calls} 次集合通信属于 SyncBatchNorm，其后的一切都在等待它们。`,
    advice: () =>
      "若每个 rank 上的样本足够，普通的 `BatchNorm2d` 同样有效：请不要使用 `convert_sync_batchnorm`，或使用不需要其他 rank 的 `GroupNorm`。",
  },
  barriers: {
    title: "各步中有屏障",
    detail: (values) =>
      `各 rank 在 ${values.steps} 步中的 ${values.in} 步停在 ${values.calls} 个屏障处，其时间占各步的 ${percent(values.share)}。`,
    advice: () =>
      "请从步中去掉 `torch.distributed.barrier()`：集合通信本来就会相互等待。在检查点和日志前后，只在有它们的步中调用它。",
  },
  slow_transfers: {
    title: "主机内的传输比任何链路都慢",
    detail: ({ calls, gigabytes, share, link, left }) =>
      `不计对迟到的 rank 的等待，同一主机的设备之间有 ${calls} 次大的集合通信，总线带宽只有 ${gigabytes} GB/s，占全部传输时间的 ${percent(share, 0)}。最慢的链路也有 ${link} GB/s，以此速度只需其 ${percent(left, 0)} 的时间。`,
    advice: () =>
      "`NCCL_DEBUG=INFO` 会显示数据走的路径：用 `SHM` 或 `NET/Socket` 代替 `P2P` 会很慢。请用 `nvidia-smi topo -m` 和 `nvidia-smi nvlink -s` 查看链路，并且不要设置 `NCCL_P2P_DISABLE`。",
  },
  slow_link: {
    title: ({ ranks }) => `rank ${ranks} 之间的传输比同类的组慢`,
    detail: ({ calls, mine_ns, middle_ns }) =>
      `那里的 ${calls} 次集合通信平均用 ${ms(mine_ns)}；在同样多的 rank 之间传输同样多数据的组中，处于中位数的组用 ${ms(middle_ns)}。`,
    advice: () =>
      "请查看这些设备之间的链路：`nvidia-smi nvlink -s`，用 `nvidia-smi nvlink -e` 查看错误，`nvidia-smi topo -m`，主机之间用 `ibstat` 或 `ethtool`。只在这些设备上运行 nccl-tests 的 `all_reduce_perf` 可以看出是否为链路的问题。",
  },
  pipeline_bubble: {
    title: "流水线的各段相互等待",
    detail: ({ wait_ns, share, stages, microbatches, ideal_ns }) =>
      microbatches === undefined
        ? `平均每步中，${stages} 段中的一段等待其他段 ${ms(wait_ns)}（${percent(share, 0)}）：在流水线填充和排空时，以及等待更慢的段时。`
        : `平均每步中，一段等待其他段 ${ms(wait_ns)}（${percent(share, 0)}）。其中 ${stages} 段和 ${microbatches} 个微批次填充和排空流水线需要 ${ms(ideal_ns)}。`,
    advice: ({ uneven }) =>
      uneven === undefined
        ? "请把批次分成更多的微批次，或使用交错的调度：填充和排空的时间会减少。若各段的等待不同，请把层从最慢的一段移到其他段。"
        : uneven
          ? "请让各段的工作量相同：最慢的一段决定速度。把它的层移到其他段，并把嵌入和损失也算作层。"
          : "请把批次分成两倍的微批次，填充和排空的时间会减半；或使用 `torch.distributed.pipelining` 的 `ScheduleInterleaved1F1B` 或 `ScheduleInterleavedZeroBubble`。",
  },
  object_collectives: {
    title: "各步向其他 rank 发送 Python 对象",
    detail: (values) =>
      `${values.steps} 步中的 ${values.in} 步里共有 ${values.calls} 次：对象被序列化，用两次集合通信发送，再由主机读取，主机因此等待设备；占各步的 ${percent(values.share)}。`,
    advice: () =>
      "请发送主机不必读取的张量：用 `torch.distributed.all_gather_into_tensor(out, x)` 代替 `all_gather_object`。只用于日志的内容可以在 epoch 之后发送。",
  },
  resharding: {
    title: "FSDP 收集了两次权重，而内存还有剩余",
    detail: ({ calls, share, kept_bytes, used }) =>
      `每步反向传播中有 ${calls} 次 all-gather 取回前向传播已有的权重；其中没有被掩盖的部分占各步的 ${percent(share)}。保留这些权重（${gibibytes(kept_bytes)}）后会使用 ${percent(used, 0)} 的内存。`,
    advice: () =>
      "请从前向到反向传播保留权重：`fully_shard(block, reshard_after_forward=False)`，或 `FullyShardedDataParallel(…, sharding_strategy=ShardingStrategy.SHARD_GRAD_OP)`。",
  },
};

export const evidence: Record<string, (gpu: number | null) => string> = {
  late_wait: () => "其他 rank 对它的等待，每步平均",
  late_deviations: () => "与处于中位数的 rank 的偏差倍数",
  late_excess: () => "它多用的时间",
  launch_median: () => "它的启动调用的中位数",
  launch_median_middle: () => "处于中位数的 rank 的启动调用的中位数",
  wait_per_step: () => "对其他 rank 的等待，每步平均",
  transfer_per_step: () => "传输，每步平均",
  collectives_matched: () => "在多个 rank 上找到的集合通信",
  uneven_exchanges: () => "不均衡的 all-to-all 交换",
  uneven_ratio: () => "最大者超出平均值的部分",
  tiny_collectives_per_step: () => "很小的集合通信，每步",
  tiny_collectives_time: () => "它们的时间，每步平均",
  sync_batchnorm_calls: () => "SyncBatchNorm 的集合通信，每步",
  sync_batchnorm_time: () => "它们的时间，每步平均",
  fp32_bytes: () => "以 FP32 进行 all-reduce 的字节，每步",
  unused_search: () => "查找，每步平均",
  barriers: () => "各步中的屏障",
  barrier_time: () => "屏障的时间，每步平均",
  late_gathers: () => "没有被掩盖的 all-gather",
  late_gather_time: () => "它们的时间，每步平均",
  stage_wait: () => "等待其他段，每步平均",
  stage_ideal: () => "填充和排空所需的时间",
  slow_transfers: () => "比最慢的链路还慢的大的集合通信",
  slow_transfer_time: () => "它们的传输，每步平均",
  link_transfer: () => "该组的平均传输时间",
  link_transfer_middle: () => "处于中位数的组的平均传输时间",
  object_collectives: () => "各步中交换对象的次数",
  object_time: () => "主机用于其中的时间，每步平均",
  gathered_again: () => "再次收集的权重，每步",
  kept_weights: () => "所保留的权重占用的内存",
};

export const links: Record<string, string> = {
  ddp_uneven: "各 rank 工作不均，DDP 教程",
  numa_binding: "将进程绑定到 CPU，调优指南",
  all_to_all: "all_to_all_single",
  asynchronous_collectives: "同步与异步的集合通信",
  pipelining: "torch.distributed.pipelining 的调度",
  object_collectives: "torch.distributed.all_gather_object",
  fsdp_reshard: "fully_shard 的 reshard_after_forward",
  ddp_buckets: "DistributedDataParallel 的桶",
  sync_batchnorm: "SyncBatchNorm",
  bf16_compress_hook: "bf16_compress_hook",
  ddp_unused: "find_unused_parameters 与 static_graph",
  barrier: "torch.distributed.barrier",
  fsdp_prefetch: "fully_shard 的预取",
};
