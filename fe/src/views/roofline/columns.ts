import type { RooflineTable } from "../../api";
import { partsTexts } from "../../i18n";
import { roofline as text } from "../../i18n/en/roofline";
import { declared, derive, type Table } from "../../table";

const WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  bound: text.bounds,
  tensor_cores: text.tensorCores,
  advice: text.advices,
  above: text.aboves,
  sure: text.sures,
};

const SHARES = { time_share: { label: text.share, help: text.shareHelp } };

/** Of a single operator or kernel it says less than its part of the roof. */
const MFU_OF: ReadonlySet<string> = new Set(["module", "line", "element", "phase"]);

/** Of rows whose FLOP lie between two numbers; of a table without such rows they are hidden. */
const RANGE: ReadonlySet<string> = new Set(["least_flops", "most_flops"]);

/** The name of a row; phases are named as in the view Program. */
export const rowName = (name: string, group: string): string =>
  (group === "phase" && (partsTexts.phases as Readonly<Record<string, string>>)[name]) || name;

function isEmpty(rows: RooflineTable["rows"], key: string): boolean {
  return (rows[key] ?? []).every((value) => value === null);
}

/** The server's columns with the share of the time. */
export function rooflineTable({ columns, rows, meta }: RooflineTable): Table {
  const shown = columns.map((column) => {
    const words =
      column.key === "name" && meta.group_by === "phase" ? partsTexts.phases : WORDS[column.key];
    const hidden =
      column.hidden ||
      (column.key === "mfu" && !MFU_OF.has(meta.group_by)) ||
      (RANGE.has(column.key) && isEmpty(rows, column.key));
    return { ...column, hidden, ...(words && { words }) };
  });
  return derive({ columns: shown, rows }, declared({ columns }, SHARES));
}
