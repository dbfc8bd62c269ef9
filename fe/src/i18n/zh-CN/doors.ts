import type { doors as en } from "../en/doors";

export const doors: typeof en = {
  title: (category) => `组成：${category}`,
  titleOfStep: (category, step) => `组成：步 ${step} 的${category}`,
  close: "关闭",
  total: (time, names) =>
    `所示各步共 ${time}，${names}。单击算子或内核可转到它所在的行，单击时间可转到跟踪视图。`,
  names: (n) => `${n} 个名称`,
  nothing: "这些步中没有此类别的时间。",
  parts: "按名称",
  stretches: "最长的时间段",
  name: "名称",
  time: "时间",
  share: "占比",
  count: "段数",
  longest: "最长",
  step: "步",
  unknown: "没有记录",
  more: (n) => `另有 ${n} 个名称`,
  open: (label, where) => `${label}：在${where}中显示`,
  inTrace: (label, view) => `在${view}中显示 ${label} 最长的一段`,
};
