import { partIn } from "../../partIn";
import type { FindingWords } from "../../values";
import { decimalGibibytes, ms, percent } from "../numbers";
import { parts } from "../parts";
import { transferAdvice } from "../serverTransfers";

const GAP_ADVICE: Readonly<Record<string, string>> = {
  sample: "请在设备上对所有请求一起采样，并在下一步再读取 token。",
  schedule:
    "请在设备运行当前批次时选择下一批：vLLM 用 `--async-scheduling`，SGLang 默认如此（`--disable-overlap-schedule` 则相反）。",
  detokenise: "请在另一个进程或线程中把 token 变成文本。",
  wait: "从设备读回的内容（`.item()`、`.tolist()`、`.cpu()`）使上一步结束：请在下一步运行时读取上一步的 token。",
  other: "请在跟踪视图中查看主机在那里做什么；把对请求的登记移出循环。",
};

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
    title: ({ unknown, captured }) =>
      captured !== undefined
        ? "在采集的步中捕获了图"
        : unknown === undefined
          ? "设备在等待主机"
          : "设备空闲，而跟踪没有说明原因",
    detail: ({ gpus, idle, unknown, silent, captured }) =>
      captured !== undefined
        ? `GPU ${gpus} 有 ${percent(idle, 0)} 的时间空闲。各步有 ${percent(captured, 0)} 的时间在捕获图：此时调用的内容并不运行，而是成为图的一部分。`
        : (unknown ?? silent) === undefined
          ? `GPU ${gpus} 有 ${percent(idle, 0)} 的时间空闲，此时主机在准备后面的工作。`
          : `GPU ${gpus} 有 ${percent(idle, 0)} 的时间空闲。各步有 ${percent(unknown ?? silent, 0)} 的时间，记录的内容没有说明设备在等待什么。`,
    advice: ({ unknown, silent, captured, compiled, stacks, server, command }) =>
      captured !== undefined
        ? "请采集捕获之后的部分：服务程序在启动时捕获图，处理请求时重放。在自己的程序中，请在循环之前捕获，并在采集之前先运行几步。"
        : (unknown ?? silent) === undefined
          ? `关键路径视图显示各步在等待哪些 Python 代码和算子。请在每步中少做这些工作${compiled ? "" : "，或让 `torch.compile(model)` 只做一次"}。`
          : stacks !== undefined
            ? "已采集调用栈，但其中看不出原因：请检查启动这些工作的进程和线程是否已被采集。跟踪视图显示这些空隙，以及是什么结束了它们。"
            : server !== undefined
              ? `请采集主机的 Python 代码，${server} 为此有自己的选项：\`${command}\`。跟踪视图显示这些空隙，以及是什么结束了它们。`
              : "请在启动这些工作的进程和线程中记录更多主机信息：`profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True)`。跟踪视图显示这些空隙，以及是什么结束了它们。",
  },
  memory_limit: {
    title: "设备内存几乎用满",
    detail: ({ share, capacity_bytes, gpu }) =>
      `峰值时程序占用了 GPU ${gpu} 的 ${decimalGibibytes(capacity_bytes, 1)} 内存的 ${percent(share)}。`,
    advice: () =>
      '请用 `torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)` 重新计算激活值而不是保存它们，或用 `torch.autocast("cuda", dtype=torch.bfloat16)` 将其减半。',
  },
  step_gaps: {
    title: "推理各步之间有时间流逝",
    detail: ({ share, mean_ns, on_device }) =>
      `从第一步到最后一步的时间有 ${percent(share, 0)} 在各步之间，每步之后 ${ms(mean_ns)}${on_device ? "，此时设备无事可做" : ""}。`,
    advice: ({ most }) => GAP_ADVICE[String(most)] ?? "",
  },
  uneven_accumulation: {
    title: "各步累积梯度的批次数不同",
    detail: ({ other, steps, usual, low, high, names }) =>
      `${steps} 步中有 ${other} 步的反向传播次数不是通常的 ${usual} 次：从 ${low} 到 ${high} 次（步 ${names}）。`,
    advice: () =>
      "如果这是数据的末尾，`drop_last=True` 会将其去掉。如果这是有意的，请将损失除以该步的次数：除以通常的次数时，这些步学到的会偏少或偏多。",
  },
  step_jitter: {
    title: "部分步比其他步慢",
    detail: ({ slow, steps, ratio, median_ns, excess_ns, grown, grown_ns }) =>
      `${steps} 步中有 ${slow} 步超过中位数 ${ms(median_ns)} 的 ${ratio} 倍，使平均每步增加 ${ms(excess_ns)}；其中增长最多的是“${partIn(parts, String(grown))}”，每步 ${ms(grown_ns)}。`,
    advice: ({ training }) =>
      `请把其中一步与普通的一步比较：先在上方选择该步，再查看增长的部分。${training ? "每隔 k 步才有的工作（日志、评估、检查点）应放在循环之外或放到线程中。" : "输入大小不同，步的长短也不同：请把长度相近的请求放在一起，或填充到少数几种大小。每隔 k 步才有的工作应放在循环之外或放到线程中。"}`,
  },
};

export const evidence: Record<string, (gpu: number | null) => string> = {
  step_gaps: () => "各步之间的间隙",
  step_gap_ns: () => "一个间隙",
  fewest_passes: () => "一步中最少的反向传播次数",
  most_passes: () => "一步中最多的反向传播次数",
  slow_steps: () => "慢步",
  excess_per_step: () => "平均步超过中位数的部分",
  grown_part: () => "增长最多的部分的增长",
  dataloader_per_step: () => "DataLoader，每步平均",
  communication_per_step: () => "通信，每步平均",
  exposed_communication_per_step: () => "暴露的通信，每步平均",
  launch_delay: () => "从集合通信的启动到其内核，中位数",
  slow_operations: () => "低于 5 GB/s 的大操作",
  slow_share: () => "它们在通信时间中所占的比例",
  share_of_step: () => "占平均每步时间的比例",
  devices_in_use: () => "使用中的设备",
  nccl_gpus: () => "可以使用 NCCL 的 GPU",
  busy: (gpu) => `设备忙碌，GPU ${gpu}`,
  computing: (gpu) => `计算中，GPU ${gpu}`,
  peak_allocated: (gpu) => `GPU ${gpu} 已分配内存的峰值`,
  gpu_memory: (gpu) => `GPU ${gpu} 的内存`,
  memory_to_save: (gpu) => `GPU ${gpu} 上需要节省的内存`,
};

export const links: Record<string, string> = {
  accumulation: "梯度累积",
  tuning_guide: "性能调优指南",
  ddp_hooks: "DDP 通信钩子",
  ddp_instead: "用 DistributedDataParallel 代替 DataParallel",
  which_backend: "如何选择后端",
  checkpointing: "梯度检查点",
  nccl_troubleshooting: "NCCL 故障排查",
};
