import type { capture as en } from "../en/capture";

const SEVERITIES = { error: "错误", warning: "警告", info: "提示" };

export const capture: typeof en = {
  sentence: (steps, events, time) => `采集了 ${steps} 步、${events} 个事件，历时 ${time}。`,
  noted: (notes) => (notes === 0 ? "没有异常。" : `下面有 ${notes} 条关于跟踪健康状况的提示。`),

  recording: {
    title: "采集",
    file: "文件",
    size: "文件大小",
    text: "解压后",
    events: "事件数",
    recordedAt: "采集时间",
    unknownTime: "文件中没有记录时间",
    range: "时间范围",
    rangeHelp: "从第一个事件开始到最后一个事件结束",
    tracks: "轨道",
    tracksHelp: "有事件的主机线程和设备流",
    steps: "步数",
    stepsFound: (n, rule) => `${n}，依据 ${rule}`,
    deviceType: "设备类型",
    host: "主机",
    unknownHost: "文件中没有主机名",
  },

  categories: {
    title: "按类别统计的事件",
    help: "文件中各类事件的数量。各版本性能分析器的不同写法统一为一套名称。",
    names: {
      other: "其他",
      operator: "算子",
      user_annotation: "标注",
      python_function: "Python 函数",
      runtime: "运行时调用",
      driver: "驱动调用",
      kernel: "内核",
      memcpy: "Memcpy",
      memset: "Memset",
      gpu_user_annotation: "设备上的标注",
      sync: "同步",
      overhead: "性能分析器开销",
      memory: "内存分配与释放",
      flow_launch: "箭头：启动到设备工作",
      flow_forward_backward: "箭头：前向到反向",
      span: "采集窗口",
      metadata: "线程和流的名称",
      counter: "计数器",
    },
  },

  options: {
    title: "性能分析器选项",
    help: "此跟踪包含哪些采集内容，以及要采集缺失内容所需的代码。只要存在相应事件就视为已采集，无论文件头是否写明该选项。",
    option: "选项",
    state: "在此跟踪中",
    adds: "采集的内容",
    enable: "如何采集",
    states: { found: "已采集", empty: "已开启，但没有数据", missing: "未采集" },
    events: (n) => `${n} 个事件`,
    names: {
      cpu: "CPU 活动",
      device: "设备活动",
      steps: "步",
      record_shapes: "record_shapes",
      with_stack: "with_stack",
      profile_memory: "profile_memory",
      with_modules: "with_modules",
      with_flops: "with_flops",
    },
    about: {
      cpu: "主机上的算子和标注",
      device: "设备上的内核、拷贝和置位",
      steps: "一次迭代在哪里结束，下一次在哪里开始",
      record_shapes: "每个算子输入的形状、类型和步幅",
      with_stack: "Python 函数和模块调用，或每个算子的调用栈",
      profile_memory: "每一次内存分配和释放，以及总量",
      with_modules: "只是文件头中的标记：模块调用由 with_stack 采集",
      with_flops: "只是文件头中的标记：FLOP 数不写入文件",
    },
    code: {
      cpu: "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
      device: "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])",
      steps: "prof.step()  # 在每次迭代结束时调用",
      record_shapes: "profile(record_shapes=True)",
      with_stack: "profile(with_stack=True)",
      profile_memory: "profile(profile_memory=True)",
      with_modules: "profile(with_modules=True, with_stack=True)",
      with_flops: "profile(with_flops=True)",
    },
  },

  versions: {
    title: "版本",
    names: {
      schemaVersion: "文件格式",
      cuda_runtime_version: "CUDA 运行时",
      cuda_driver_version: "驱动支持的 CUDA",
      cupti_version: "CUPTI",
      hip_runtime_version: "HIP 运行时",
      hip_driver_version: "HIP 驱动",
      roctracer_version: "roctracer",
    },
    none: "文件中没有版本信息。",
  },

  distributed: {
    title: "分布式",
    rank: "Rank",
    worldSize: "World size",
    backend: "后端",
    groups: "进程组",
    unknown: "文件中没有写明",
    none: "文件没有表明它属于多个 rank 之一。若确有多个 rank，进程组必须在开始采集之前建立。",
    remedy: "torch.distributed.init_process_group()",
  },

  devices: {
    title: "设备",
    help: "文件中列出的本机设备，以及在此跟踪中有工作的设备。",
    id: "设备",
    name: "名称",
    memory: "显存",
    capability: "计算能力",
    used: "在此跟踪中有工作",
    yes: "是",
    no: "否",
    unknown: "未知设备",
    none: "文件没有列出设备，也没有设备执行过工作。",
  },

  health: {
    title: "说明",
    help: "修复、略去或缺失了什么，影响哪些视图。偏移量按解压后文本的字节计算。",
    none: "此跟踪没有发现异常。",
    count: (n) => `${n} 次`,
    offset: (bytes) => `首次出现在第 ${bytes} 字节`,
    touches: "影响",
    summary: (counts) => counts.map(([severity, n]) => `${n} 条${SEVERITIES[severity]}`).join("，"),
  },

  log: {
    title: "性能分析器日志",
    help: "性能分析器在采集期间自己写下的内容（以文件中保存的为限）。",
    lines: {
      error: (n) => `${n} 条错误`,
      warning: (n) => `${n} 条警告`,
      info: (n) => `其他 ${n} 行`,
    },
  },

  metadata: {
    title: "文件头中的其他条目",
    help: "文件关于自身的其他说明，例如程序通过 profiler.add_metadata 添加的内容。",
  },

  files: {
    title: "文件",
    help: "本次运行的文件，以及看起来像跟踪但未被采用的文件及其原因。",
  },
};
