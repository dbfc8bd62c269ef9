import type { charts as en } from "../en/charts";

export const charts: typeof en = {
  showTable: "以表格显示",
  showChart: "以图表显示",
  png: "保存为 PNG",
  svg: "保存为 SVG",
  top: "前",
  all: "全部",
  others: (n) => `其他 ${n} 项`,
  loading: "正在绘制…",
  chart: "图表",
  table: "表格",
  tableOf: (title) => `${title}（表格）`,
  failed: "图表加载失败。",
  share: "占比",
  total: "合计",
  summary: (title, parts) => (parts ? `${title}：${parts}` : `${title}：无数据`),
  part: (label, value, share) => `${label} ${value}（${share}）`,
  andMore: (n) => `以及另外 ${n} 项`,
};
