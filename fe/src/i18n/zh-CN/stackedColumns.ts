import type { stackedColumns as en } from "../en/stackedColumns";

export const stackedColumns: typeof en = {
  zoomIn: "放大",
  zoomOut: "缩小",
  all: "显示全部",
  keys: "方向键在各列之间移动，Enter 选中，+ 和 − 缩放，0 显示全部。在图上拖动可放大。",
  shown: (from, to, of) => `第 ${from}–${to} 项，共 ${of} 项`,
  merged: (n, what) =>
    `每列合并了 ${n} ${what}，取平均值；细线从其中最短的画到最长的。单击一列可放大。`,
  meanOf: (n, what) => `${n} ${what}，取平均值`,
  least: "最短",
  most: "最长",
  total: "合计",
  missing: "没有记录",
  legend: "颜色",
  strip: "全部内容；拖动以选择上方显示的范围",
};
