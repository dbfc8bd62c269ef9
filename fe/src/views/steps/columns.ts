/** The steps as a table. Pure. */
import type { Definitions, Steps } from "../../api";
import { categoryName, definitionText, stepKindName, stepsTexts } from "../../i18n";
import { type CellColumn, declaredCells, type Table, tableOf } from "../../table";

import { cause, type Usual } from "./outliers";

const text = stepsTexts.columns;
/** A step and its parts are read against each other: in one unit. */
const PARTS = "parts of a step";
/** What devices did in a step. These are no parts: several go on at once. */
const USES = ["busy", "computing", "communicating", "exposed_communication"] as const;

/** A column for each number of a step. Of time and share, those stand in the table that the chart shows. */
export function stepTable(
  steps: Steps,
  definitions: Definitions | undefined,
  usual: Usual,
  slow: readonly boolean[],
  mode: "absolute" | "percent",
  rows: readonly number[],
  remark: (step: number) => string,
): Table {
  const { labels, names } = steps;
  const telling = rows.some((step) => !isPlain(labels[step], names[step]));
  const uses = USES.flatMap((key) => {
    const ns = steps.use?.[`${key}_ns`];
    return ns ? [{ key, ns }] : [];
  });
  const marks = declaredCells<number>(steps.columns, {
    names: { key: "name", cell: (step) => names[step] },
    labels: { key: "label", hidden: !telling, cell: (step) => labels[step] ?? null },
    start_ns: { cell: (step) => steps.start_ns[step] },
    duration_ns: { family: PARTS, cell: (step) => steps.duration_ns[step] },
  });
  const kind: CellColumn<number> = {
    column: {
      key: "kind",
      label: text.kind,
      type: "string",
      unit: null,
      help: definitionText(definitions ?? {}, "kind"),
    },
    cell: (step) => {
      const found = steps.kinds[steps.kind[step] ?? -1];
      return found ? stepKindName(found) : null;
    },
  };
  const columns: CellColumn<number>[] = [
    ...marks.slice(0, 2),
    ...(steps.kinds.length === 0 ? [] : [kind]),
    ...marks.slice(2),
    {
      column: {
        key: "delta_ns",
        label: text.delta,
        type: "number",
        unit: "ns",
        family: PARTS,
        help: text.deltaHelp,
        change: "plain",
      },
      cell: (step) => (steps.duration_ns[step] ?? 0) - usual.duration_ns,
    },
    {
      column: {
        key: "delta_percent",
        label: text.deltaPercent,
        type: "number",
        unit: "percent",
        help: text.deltaPercentHelp,
        change: "plain",
      },
      cell: (step) =>
        usual.duration_ns > 0
          ? ((steps.duration_ns[step] ?? 0) / usual.duration_ns - 1) * 100
          : null,
    },
    {
      column: {
        key: "outlier",
        label: text.outlier,
        type: "string",
        unit: null,
        help: text.outlierHelp,
        hidden: !slow.includes(true),
      },
      cell: (step) => (slow[step] && cause(steps, usual, step) ? remark(step) : null),
    },
    ...steps.categories.flatMap((category) => {
      const label = categoryName(category);
      const ns = steps.category_ns[category] ?? [];
      const help = definitionText(definitions ?? {}, category);
      return [
        {
          column: {
            key: category,
            label,
            type: "number" as const,
            unit: "ns" as const,
            family: PARTS,
            help,
            hidden: mode === "percent",
          },
          cell: (step: number) => ns[step],
        },
        {
          column: {
            key: `${category}_percent`,
            label: text.percent(label),
            type: "number" as const,
            unit: "percent" as const,
            help: text.percentHelp(label),
            bar: true,
            hidden: mode === "absolute",
          },
          cell: (step: number) => share(ns[step], steps.duration_ns[step]),
        },
      ];
    }),
    ...uses.map(({ key, ns }) => ({
      column: {
        key: `${key}_percent`,
        label: text.percent(text.uses[key]),
        type: "number" as const,
        unit: "percent" as const,
        help: definitionText(definitions ?? {}, key),
        bar: true,
        hidden: key === "communicating" || ns.every((time) => time === 0),
      },
      cell: (step: number) => share(ns[step], steps.duration_ns[step]),
    })),
  ];
  return tableOf(columns, rows);
}

/** `ProfilerStep#5` says no more than 5. */
function isPlain(label: string | undefined, name: string | undefined): boolean {
  return label === undefined || label === `ProfilerStep#${name}`;
}

function share(part: number | undefined, whole: number | undefined): number | null {
  return part !== undefined && whole ? (part / whole) * 100 : null;
}
