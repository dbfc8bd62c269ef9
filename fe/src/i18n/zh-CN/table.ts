import type { table as en } from "../en/table";

export const table: typeof en = {
  filter: (table) => `筛选：${table}`,
  filterHint: (example) => `筛选，例如 ${example}`,
  filterHelpTitle: "筛选语法",
  filterHelp: [
    ["conv relu", "名称中同时包含这两个词"],
    ["name~^aten::", "用正则表达式匹配某一列"],
    ["calls>10", "比较：> >= < <= = !="],
    ["device_self>5ms", "单位：ns us ms s、KiB MiB GiB（KB MB GB 含义相同）、%"],
    ['operator="aten::mm"', "与该文本完全相同"],
    ["tensor_cores_used=yes", "yes、no 或 unknown"],
    ['"a b"', "引号内的空格和符号按原样匹配"],
  ],
  filterHelpNote: "多个条件用空格分隔，须同时满足。",
  problem: {
    unknown_column: (name) => `没有名为“${name}”的列。`,
    bad_regex: (detail) => detail,
    bad_number: (token) => `“${token}”需要一个数字。`,
    bad_unit: (token, column) => `“${token}”中的单位不适用于 ${column}。`,
    bad_operator: (token, column) => `${column} 不支持“${token}”这种条件。`,
    open_quote: "引号没有闭合。",
    too_long: (most) => `筛选条件最多 ${most} 个字符。`,
    kept: "仍显示上一次有效的筛选结果。",
  },

  pattern: {
    tooLong: (most) => `此处的正则表达式最多 ${most} 个字符。`,
    unknown: (what) => `此处的正则表达式不支持 ${what}。`,
    tooSlow: "该正则表达式的匹配时间过长。",
    noWorker: "此处无法匹配带有分组或重复的正则表达式：浏览器不允许使用 Web Worker。",
  },

  share: (column) => `${column}占比 %`,
  shareHelp: (column) => `该行的“${column}”除以所有行的“${column}”。`,
  perCall: (column) => `${column}（每次调用）`,
  perCallHelp: (column) => `“${column}”除以调用次数。`,

  rows: (shown, total) => (shown === total ? `${total} 行` : `${shown} 行，共 ${total} 行`),
  noMatch: "没有符合筛选条件的行。",
  clearFilter: "清除筛选",

  columns: "列",
  columnsReset: "重置",
  copy: "复制",
  copyHint: "以制表符分隔的文本复制当前显示的行",
  copied: (n) => `已复制 ${n} 行`,
  copyFailed: "此处不允许复制。",
  export: "导出",
  saveCsv: "保存为 CSV",
  saveJson: "保存为 JSON",
  copyCsv: "复制为 CSV",
  copyJson: "复制为 JSON",
  exportHidden: "包括隐藏的列",
  exporting: "正在获取所有行…",
  saved: (n) => `已保存 ${n} 行`,
  exportFailed: "无法获取这些行。",
  rowLoading: "正在加载…",

  sortHint: "单击或按 Enter 排序；同时按住 Shift 可按多列排序。",
  expand: "显示详情",
  collapse: "隐藏详情",
  keysHint: "方向键移动，Enter 选中，→ 和 ← 展开和收起详情，Ctrl+C 复制该行。",

  yes: "是",
  no: "否",
  unknown: "–",

  tree: {
    openAll: "全部展开",
    closeAll: "全部折叠",
    open: "展开",
    close: "折叠",
    keysHint:
      "方向键移动；右键展开一行或进入其中，左键折叠或返回上层；Enter 选中；Ctrl+C 复制该行。",
  },
};
