export const charts = {
  showTable: "Show as table",
  showChart: "Show as chart",
  png: "Save as PNG",
  svg: "Save as SVG",
  top: "Top",
  all: "all",
  others: (n: number) => (n === 1 ? "1 other" : `${n} others`),
  loading: "Drawing…",
  chart: "Chart",
  table: "Table",
  failed: "The chart could not be loaded.",
  share: "Share",
  total: "Total",
  /** The text behind a picture: its title and its largest parts. */
  summary: (title: string, parts: string) => (parts ? `${title}: ${parts}` : `${title}: no data`),
  part: (label: string, value: string, share: string) => `${label} ${value} (${share})`,
  andMore: (n: number) => `and ${n} more`,
};
