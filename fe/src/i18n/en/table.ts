import { counted } from "../counted";
import { area } from "../translation";

export const table = area("table", {
  filter: (table: string) => `Filter: ${table}`,
  filterHint: (example: string) => `Filter, e.g. ${example}`,
  filterHelpTitle: "the filter",
  filterHelp: [
    ["conv relu", "names that contain both words"],
    ["name~^aten::", "a regular expression for a column"],
    ["calls>10", "comparisons: > >= < <= = !="],
    ["device_self>5ms", "units: ns us ms s, KiB MiB GiB (KB MB GB mean the same), %"],
    ['operator="aten::mm"', "exactly this text"],
    ["tensor_cores_used=yes", "yes, no or unknown"],
    ['"a b"', "quotes keep spaces and signs"],
  ],
  filterHelpNote: "Several conditions, separated by spaces, must all hold.",
  problem: {
    unknown_column: (name: string) => `There is no column “${name}”.`,
    bad_regex: (detail: string) => detail,
    bad_number: (token: string) => `“${token}” needs a number.`,
    bad_unit: (token: string, column: string) => `The unit in “${token}” does not fit ${column}.`,
    bad_operator: (token: string, column: string) => `“${token}” cannot be applied to ${column}.`,
    open_quote: "A quote is not closed.",
    too_long: (most: number) => `A filter has at most ${most} characters.`,
    kept: "Still showing the last filter that worked.",
  },

  /** Why a regular expression is refused. */
  pattern: {
    tooLong: (most: number) => `A regular expression has at most ${most} characters here.`,
    unknown: (what: string) => `Regular expressions with ${what} are not supported here.`,
    tooSlow: "The regular expression takes too long to match.",
    noWorker:
      "Regular expressions with groups or repetitions are not available here: the browser allows no Web Worker.",
  },

  share: (column: string) => `% ${column.charAt(0).toLowerCase()}${column.slice(1)}`,
  shareHelp: (column: string) => `${column} of the row divided by that of all rows.`,
  perCall: (column: string) => `${column} per call`,
  perCallHelp: (column: string) => `${column} divided by calls.`,

  rows: (shown: string, total: string) =>
    `${shown === total ? total : `${shown} of ${total}`} ${total === "1" ? "row" : "rows"}`,
  noMatch: "No row matches the filter.",
  clearFilter: "Clear the filter",

  columns: "Columns",
  columnsReset: "Reset",
  copy: "Copy",
  copyHint: "Copy the rows shown, as tab-separated text",
  copied: (n: string) => counted(n, "row copied", "rows copied"),
  copyFailed: "Copying is not allowed here.",
  export: "Export",
  saveCsv: "Save as CSV",
  saveJson: "Save as JSON",
  copyCsv: "Copy as CSV",
  copyJson: "Copy as JSON",
  exportHidden: "With hidden columns",
  exporting: "Fetching all rows…",
  saved: (n: string) => counted(n, "row saved", "rows saved"),
  exportFailed: "The rows could not be fetched.",
  rowLoading: "Loading…",

  sortHint: "Click or Enter to sort; with Shift by several columns.",
  expand: "Show details",
  collapse: "Hide details",
  keysHint:
    "Arrow keys move, Enter selects, Right and Left open and close details, Ctrl+C copies the row.",

  /** Rows inside each other. */
  tree: {
    openAll: "Expand all",
    closeAll: "Collapse all",
    open: "Expand",
    close: "Collapse",
    keysHint:
      "Arrow keys move, Right opens a row or goes into it, Left closes it or goes out of it, Enter selects, Ctrl+C copies the row.",
  },

  yes: "Yes",
  no: "No",
  unknown: "–",
});
