import type { RooflineTable } from "../../api";
import { partsTexts } from "../../i18n";
import { roofline as text } from "../../i18n/en/roofline";
import { declared, derive, described, hiding, type Table } from "../../table";

const SAID = {
  bound: { words: text.bounds },
  tensor_cores: { words: text.tensorCores },
  advice: { words: text.advices },
  above: { words: text.aboves },
  sure: { words: text.sures },
};

const SHARES = { time_share: { label: text.share, help: text.shareHelp } };

/** Of a single operator or kernel it says less than its part of the roof. */
const MFU_OF: ReadonlySet<string> = new Set(["module", "line", "element", "phase"]);

/** Of rows whose FLOP lie between two numbers; of a table without such rows they are hidden. */
const RANGE = ["least_flops", "most_flops"];

/** The name of a row; phases are named as in the view Program. */
export const rowName = (name: string, group: string): string =>
  (group === "phase" && (partsTexts.phases as Readonly<Record<string, string>>)[name]) || name;

function isEmpty(rows: RooflineTable["rows"], key: string): boolean {
  return (rows[key] ?? []).every((value) => value === null);
}

/** The server's columns with the share of the time. */
export function rooflineTable({ columns, rows, meta }: RooflineTable): Table {
  const said = meta.group_by === "phase" ? { ...SAID, name: { words: partsTexts.phases } } : SAID;
  const hidden = [
    ...(MFU_OF.has(meta.group_by) ? [] : ["mfu"]),
    ...RANGE.filter((key) => isEmpty(rows, key)),
  ];
  const shown = hiding(described(columns, said), hidden);
  return derive({ columns: shown, rows }, declared({ columns }, SHARES));
}
