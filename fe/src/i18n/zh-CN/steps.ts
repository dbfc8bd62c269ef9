import type { steps as en } from "../en/steps";

export const steps: typeof en = {
  chart: "每一步的时间",
  chartHelp:
    "每一步的实际时间，每一时刻只计入一个类别，与“概览”中相同：各类别之和等于该步的时间。三角形标出离群步。在图上拖动可放大。",
  sentence: (n, median, longest, time, because) =>
    n === "1"
      ? `该步用时 ${time}。`
      : `${n} 步的中位数为 ${median}；最长的步 ${longest} 用时 ${time}${because ? `（${because}）` : ""}。`,
  step: "步",
  what: "步",
  mode: "刻度",
  absolute: "绝对值",
  percent: "百分比",
  order: "排序",
  byTime: "时间顺序",
  byDuration: "耗时",

  histogram: "步时间的分布",
  histogramHelp: (width) =>
    `各时长有多少步；每个柱宽 ${width}。远高于中位数的步合在最后一个柱中。单击一个柱，即可在图中按时长查看其中的步。`,
  histogramFrom: "时间起点",
  usualSteps: "通常的步",

  tiles: {
    count: "步数",
    countHelp: "所显示的步数。",
    median: "中位数",
    medianHelp: "一半的步比它长，一半的步比它短。单击可选中最接近它的步。",
    p95: "p95",
    p95Help: "100 步中有 95 步比它短。单击可选中最接近它的步。",
    min: "最小",
    minHelp: "最短一步的耗时。",
    maxHelp: "最长一步的耗时。",
    max: "最大",
    outliers: "离群步",
    lost: (time, share) => `多耗时 ${time}，占所有步的 ${share}`,
    none: "没有明显偏慢的步",
    few: "至少需要三步",
    ofStep: (name) => `步 ${name}`,
    spread: (share) => `比中位数高 ${share}`,
  },

  outliers: "离群步",
  outliersHelp: (deviations, least) =>
    `一步的耗时若超过“中位数 + max(${deviations} × 1.4826 × MAD，中位数的 ${least})”，即为离群步。MAD（绝对中位差）是各步与中位数之差的绝对值的中位数。旁边的类别是超出自身中位数（按所有步计算）最多的类别。`,
  outliersShort: (n, limit) => `${n} 步的耗时超过 ${limit}`,
  outliersMore: (n) => `另有 ${n} 步，见表格`,
  noOutliers: (limit, least, most) =>
    `没有离群步：各步耗时 ${least} 至 ${most}，超过 ${limit} 才算离群步。`,
  tooFew: "不足三步，没有可供比较的常规耗时。",
  because: (category, time) => `${category} +${time}`,
  longer: (time, share) => `+${time}（${share}）`,

  table: "各步",
  tableShown: (n, all) =>
    `图表中显示的 ${n} 步，共 ${all} 步。在图表处选“显示全部”可恢复显示所有步。`,
  columns: {
    kind: "种类",
    delta: "Δ 中位数",
    deltaHelp: "耗时 − 所有步的耗时中位数。",
    deltaPercent: "Δ %",
    deltaPercentHelp: "耗时 ÷ 所有步的耗时中位数 − 1。",
    outlier: "离群",
    outlierHelp: "对离群步，给出超出自身中位数最多的类别。定义见“离群步”面板。",
    percent: (category) => `${category} %`,
    percentHelp: (category) => `${category} ÷ 该步的耗时。`,
    uses: {
      busy: "设备忙碌",
      computing: "计算中",
      communicating: "通信中",
      exposed_communication: "暴露的通信",
    },
  },

  empty: "此跟踪中没有找到任何步",
  emptyReason: "其中没有任何带时长的内容，因此无法划分为步。",
  wholeTrace:
    "此跟踪没有步的标记，因此整体显示为一步。请在程序中标记步，或在上方选择识别步的方式。",
  one: "只有一步，没有可比较的对象。",
  remedy: "prof.step()  # 在每次迭代结束时调用",

  inspector: {
    gone: "此跟踪中没有这个名称的步。",
    byCategory: "按类别",
    category: "类别",
    time: "时间",
    share: "占比",
    delta: "Δ 中位数",
    isOutlier: (category, time) => `离群步：${category}比中位数多 ${time}。`,
    isSlow: "离群步：耗时比通常长。",
  },
};
