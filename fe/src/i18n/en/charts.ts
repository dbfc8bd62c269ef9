import { counted } from "../counted";
import { area } from "../translation";

export const charts = area("charts", {
  showTable: "Show as table",
  showChart: "Show as chart",
  copy: "Copy picture",
  png: "Save as PNG",
  svg: "Save as SVG",
  top: "Top",
  all: "all",
  others: (n: number) => counted(n, "other"),
  chart: "Chart",
  table: "Table",
  tableOf: (title: string) => `${title} as table`,
  share: "Share",
  total: "Total",
  before: "Baseline",
  change: "Change",
  ghosts: "Dashed outlines: the baseline.",
  /** The text behind a picture: its title and its largest parts. */
  summary: (title: string, parts: string) => (parts ? `${title}: ${parts}` : `${title}: no data`),
  part: (label: string, value: string, share: string) => `${label} ${value} (${share})`,
  andMore: (n: number) => `and ${n} more`,

  curve: {
    cursor: "Moment",
    cursorHint: "Arrow keys move the cursor; Esc shows everything again.",
    outside: (moment: string) => `outside the range shown: ${moment}`,
    range: "Time range",
    from: "From",
    to: "to",
    apply: "Apply",
    anySpan: "–",
    zoomIn: "Zoom in",
    zoomOut: "Zoom out",
    earlier: "Earlier",
    later: "Later",
    reset: "Reset zoom",
    resetHint: "Also: right click or double click on the curve, or Esc",
  },
});
