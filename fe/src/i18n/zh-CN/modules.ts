import type { modules as en } from "../en/modules";

export const modules: typeof en = {
  table: "模块",
  tableHelp: `从最外层模块开始的每条模块路径为一项，该路径上的所有调用合并统计。模块按首次调用的顺序排列；单击列标题后，同一模块之下的各项按该列排序。

模块的反向是 autograd 为其前向中的算子所运行的内容。`,
  source: "来源",
  sources: { nn: "nn.Module", lightning: "Lightning" },
  metric: "指标",
  metrics: {
    device_total_ns: "设备总耗时",
    device_self_ns: "设备自身耗时",
    backward_device_ns: "反向设备耗时",
    host_total_ns: "主机总耗时",
    host_self_ns: "主机自身耗时",
    backward_host_ns: "反向主机耗时",
  },
  most: (name, count, metric, time, share) =>
    `${name}${count > 1 ? ` ×${count}` : ""} 自身时间最多（${metric}）：${time}${share ? `，占全部模块的 ${share}` : ""}。`,
  mostOf: (time) => `最大的，${time}：`,
  mostHook: (name, time, share) => `钩子 ${name} 在所有钩子中耗时最多：${time}，${share}。`,
  share: (metric) => `占${metric} %`,
  shareHelp: (metric) => `该模块的${metric}除以所有模块的${metric}。`,
  total: (metric, time) => `所有模块的${metric} ${time}`,
  noTime: (metric) => `没有模块有此类时间：${metric}。`,

  classes: (metric) => `按模块类的${metric}`,
  ofClass: "类",
  inClass: "其中",
  itself: "自身",

  flame: "火焰图",
  flameHelp: `同样的模块以方块表示：方块的宽度是它在所选指标中的占比，位于调用它的模块之下。单击可放大并选中；占满宽度的方块之上的各个方块可返回外层。

上方的图按模块类显示同样的时间：同一类的所有模块合在一起，再按直接位于其中的部分划分。颜色区分模块的类；标签省去模型中各名称共同的开头，并给同类模块编号。表格的筛选所找到的模块会突出显示。`,
  spoken: (name, time, share) => `${name}：${time}，${share}`,

  hooks: "Lightning 钩子",
  hooksHelp:
    "Lightning 的 Trainer 所调用的内容，由其 PyTorchProfiler 标记。钩子（hook）会相互调用：自身耗时不含在其内部直接调用的钩子。",
  hooksCaption: "按名称",
  hooksShare: "占自身耗时 %",
  hooksShareHelp: "该钩子的自身耗时除以所有钩子的自身耗时。",

  empty: "此跟踪中没有模块",
  emptyReason: "没有采集 nn.Module 的调用，或者模型经过编译：torch.compile 之后没有模块调用。",
  emptyRemedy: "profile(with_modules=True) 或 profile(with_stack=True)",
  noLightning: "此跟踪中没有 Lightning 模块",
  noLightningReason:
    "Trainer 使用 PyTorch Lightning 自带的 PyTorchProfiler 运行时，会标记其模块和钩子。此跟踪中没有这样的标记。",
  lightningRemedy: `from lightning.pytorch.profilers import PyTorchProfiler

trainer = Trainer(profiler=PyTorchProfiler(dirpath="logs", record_module_names=True))`,
  showOther: (source) => `显示 ${source}`,

  gone: "此跟踪中没有这条路径的模块。",
  calledBy: "调用者",
  contains: "直接包含的模块",
};
