import type { query as words } from "../en/query";

export const query: typeof words = {
  title: "查询",
  help: "用 DuckDB 的 SQL 写一条 SELECT，查询下面的表。它只能读这些表：不能访问文件、网络和设置，并在单独的进程中运行，时间和内存都有限制。查询语句是本页地址的一部分。",
  of: { label: "查询范围", trace: "当前跟踪", span: "所有 rank" },
  examples: "示例：",
  exampleNames: {
    kernels: "耗时最多的内核",
    operators: "按自身时间排列的算子",
    gaps: "各步的空闲时间及原因",
    late: "等待最久的内核",
    steps: "各步",
    tables: "所有列",
  },
  field: "SQL 查询",
  run: "运行（Ctrl+Enter）",
  limits: (rows, seconds) => `最长 ${seconds} s；只显示前 ${rows} 行。`,
  result: "查询结果",
  found: (rows, took, prepared) => `${rows} 行，用时 ${took}；准备表用时 ${prepared}。`,
  more: {
    rows: "还有更多行：这里只是最前面的。可用 LIMIT 和 WHERE 选择其他行。",
    bytes: "还有更多行，但内容过长，没有发送：请少选几列。",
  },
  columns: {
    title: "表",
    help: "查询可以使用的表和列。时间以纳秒计，从跟踪开始算起；`row` 是事件在文件中的编号，可连接所有表。未知的值为 NULL。除 DuckDB 的函数外还有：ms(ns)、overlap_ns(a0, a1, b0, b1)、short(name)、in_steps(start_ns, end_ns)。",
    schemas: (names) =>
      `每个 rank 的表在各自的 schema 中：${names}。all_kernels、all_steps 等包含所有 rank，并带有 run、worker 和 span。`,
    heads: ["列", "单位", "含义", "何时为 NULL"],
  },
};
