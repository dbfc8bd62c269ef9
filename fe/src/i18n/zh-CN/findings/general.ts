import type { FindingWords } from "../../values";
import { ms, percent } from "../numbers";
import { transferAdvice } from "../serverTransfers";

export const findings: Record<string, FindingWords> = {
  communication: {
    title: "各步在等待通信",
    detail: ({ share }) => `平均每步有 ${percent(share)} 的时间是没有被计算掩盖的通信。`,
    advice: ({ sent }) => transferAdvice(sent),
  },
  slow_communication: {
    title: "通信在等待迟到的 rank，或者链路有故障",
    detail: ({ share, slow, calls, gigabytes }) =>
      `平均每步有 ${percent(share)} 的时间是没有被掩盖的通信，而所有通信操作的时间中有 ${percent(slow)} 用在 ${calls} 次大的操作上，它们在一个节点内的总线带宽只有 ${gigabytes} GB/s：没有链路会这么慢。`,
    advice: () =>
      "请在分布式视图中比较所有 rank 的跟踪：此 rank 可能在等待迟到的 rank。若没有 rank 迟到，`NCCL_DEBUG=INFO` 会显示数据走的路径，`nvidia-smi topo -m` 和 `nvidia-smi nvlink -s` 会显示链路。",
  },
  data_parallel: {
    title: "DataParallel 比 DistributedDataParallel 慢",
    detail: ({ devices }) =>
      `模型通过 DataParallel 在 ${devices} 个设备上运行：由一个进程驱动所有设备，并且每步都复制模型。`,
    advice: () =>
      "请用 `torchrun --nproc_per_node=gpu train.py` 为每个设备启动一个进程，并用 `DistributedDataParallel(model, device_ids=[local_rank])` 包装模型。",
  },
  distributed_backend: {
    title: "没有使用 NCCL",
    detail: ({ backends }) =>
      `DistributedDataParallel 通过 ${backends || "其他通信库"} 通信；在这些 GPU 之间 NCCL 最快。`,
    advice: () => '请在创建进程组时选择它：`init_process_group(backend="nccl")`。',
  },
  device_idle: {
    title: ({ unknown }) =>
      unknown === undefined ? "设备在等待主机" : "设备空闲，而跟踪没有说明原因",
    detail: ({ gpus, idle, unknown }) =>
      unknown === undefined
        ? `GPU ${gpus} 有 ${percent(idle, 0)} 的时间空闲，此时主机在准备后面的工作。`
        : `GPU ${gpus} 有 ${percent(idle, 0)} 的时间空闲。各步有 ${percent(unknown, 0)} 的时间，记录的内容没有说明设备在等待什么。`,
    advice: ({ unknown }) =>
      unknown === undefined
        ? "关键路径视图显示各步在等待哪些 Python 代码和算子。请在每步中少做这些工作，或让 `torch.compile(model)` 只做一次。"
        : "请在启动这些工作的进程和线程中记录更多主机信息：`profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True)`。跟踪视图显示这些空隙，以及是什么结束了它们。",
  },
  memory_limit: {
    title: "设备内存几乎用满",
    detail: ({ share, capacity_bytes, gpu }) =>
      `峰值时程序占用了 GPU ${gpu} 的 ${(Number(capacity_bytes) / 2 ** 30).toFixed(1)} GB 内存的 ${percent(share)}。`,
    advice: () =>
      '请用 `torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)` 重新计算激活值而不是保存它们，或用 `torch.autocast("cuda", dtype=torch.bfloat16)` 将其减半。',
  },
  step_jitter: {
    title: "部分步比其他步慢",
    detail: ({ slow, steps, ratio, median_ns, excess_ns, grown, grown_ns }) =>
      `${steps} 步中有 ${slow} 步超过中位数 ${ms(median_ns)} 的 ${ratio} 倍，使平均每步增加 ${ms(excess_ns)}；其中增长最多的是 \`${grown}\`，每步 ${ms(grown_ns)}。`,
    advice: () =>
      "请把其中一步与普通的一步比较：先在上方选择该步，再查看增长的部分。每隔 k 步才有的工作（日志、评估、检查点）应放在循环之外或放到线程中。",
  },
};

export const evidence: Record<string, (gpu: number | null) => string> = {
  slow_steps: () => "慢步",
  excess_per_step: () => "平均步超过中位数的部分",
  grown_part: () => "增长最多的部分的增长",
  dataloader_per_step: () => "DataLoader，每步平均",
  communication_per_step: () => "通信，每步平均",
  exposed_communication_per_step: () => "暴露的通信，每步平均",
  slow_operations: () => "低于 5 GB/s 的大操作",
  slow_share: () => "它们在通信时间中所占的比例",
  share_of_step: () => "占平均每步时间的比例",
  devices_in_use: () => "使用中的设备",
  nccl_gpus: () => "可以使用 NCCL 的 GPU",
  busy: (gpu) => `设备忙碌，GPU ${gpu}`,
  computing: (gpu) => `计算中，GPU ${gpu}`,
  peak_allocated: (gpu) => `GPU ${gpu} 已分配内存的峰值`,
  gpu_memory: (gpu) => `GPU ${gpu} 的内存`,
};

export const links: Record<string, string> = {
  tuning_guide: "性能调优指南",
  ddp_hooks: "DDP 通信钩子",
  ddp_instead: "用 DistributedDataParallel 代替 DataParallel",
  which_backend: "如何选择后端",
  checkpointing: "梯度检查点",
  nccl_troubleshooting: "NCCL 故障排查",
};
