import { area } from "../translation";

export const modules = area("modules", {
  table: "Modules",
  tableHelp: `One entry per path of modules from an outermost one, with all calls on that path together. Modules are in the order of their first calls until you click a column, which sorts the modules below the same parent.

The backward of a module is what autograd ran for the operators of its forward.`,
  source: "Source",
  sources: { nn: "nn.Module", lightning: "Lightning" },
  metric: "Metric",
  metrics: {
    device_total_ns: "Device total",
    device_self_ns: "Device self",
    backward_device_ns: "Device backward",
    host_total_ns: "Host total",
    host_self_ns: "Host self",
    backward_host_ns: "Host backward",
  },
  most: (name: string, count: number, metric: string, time: string, share: string) =>
    `${name}${count > 1 ? ` ×${count}` : ""} has the most self time (${metric.toLowerCase()}): ${time}${share ? `, ${share} of all modules` : ""}.`,
  mostOf: (time: string) => `Largest, ${time}: `,
  mostHook: (name: string, time: string, share: string) =>
    `The hook ${name} has the most time of all hooks: ${time}, ${share}.`,
  share: (metric: string) => `% ${metric.toLowerCase()}`,
  shareHelp: (metric: string) => `${metric} of the module divided by that of all modules.`,
  total: (metric: string, time: string) => `${metric} of all modules ${time}`,
  noTime: (metric: string) => `No module has any time of this kind: ${metric.toLowerCase()}.`,

  classes: (metric: string) => `${metric} by class of module`,
  ofClass: "Class",
  inClass: "Inside",
  itself: "itself",

  flame: "Flame graph",
  flameHelp: `The same modules as boxes: a box is as wide as its share of the metric, and is below the module that calls it. Click to zoom in and to select; click a box above the one that fills the width to zoom out again.

The picture above it has the same time by class of module, all modules of a class together, cut into what is directly inside. Colours distinguish classes; labels omit what the names of a model begin with, and number the modules of one class. Modules that match the filter of the table are highlighted.`,
  spoken: (name: string, time: string, share: string) => `${name}: ${time}, ${share}`,

  hooks: "Lightning hooks",
  hooksHelp:
    "What Lightning's Trainer called, as its PyTorchProfiler marks it. Hooks call each other: self is without the hooks called directly inside.",
  hooksCaption: "By name",
  hooksShare: "% self",
  hooksShareHelp: "Self time of the hook divided by the self time of all hooks.",

  empty: "No modules in this trace",
  emptyReason:
    "Calls of nn.Module were not recorded, or the model is compiled: compiled code has no module calls.",
  emptyRemedy: "profile(with_modules=True) or profile(with_stack=True)",
  noLightning: "No Lightning modules in this trace",
  noLightningReason:
    "PyTorch Lightning marks its modules and hooks when the Trainer runs with its own PyTorchProfiler. This trace has no such marks.",
  lightningRemedy: `from lightning.pytorch.profilers import PyTorchProfiler

trainer = Trainer(profiler=PyTorchProfiler(dirpath="logs", record_module_names=True))`,
  showOther: (source: string) => `Show ${source}`,

  gone: "This trace has no module of this path.",
  calledBy: "Called by",
  contains: "Modules directly inside",
});
