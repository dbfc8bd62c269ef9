/** The steps as a table. Pure. */
import type { Definitions, Steps } from "../../api";
import { categoryName, definitionText, stepKindName, stepsTexts } from "../../i18n";
import {
  type CellColumn,
  type Column,
  declaredCells,
  numberColumn,
  type Table,
  tableOf,
  textColumn,
} from "../../table";
import { cause, type Usual } from "./outliers";

const text = stepsTexts.columns;
/** A step and its parts are read against each other: in one unit. */
const PARTS = "parts of a step";
/** What devices did in a step. These are no parts: several go on at once. */
const USES = ["busy", "computing", "communicating", "exposed_communication"] as const;

interface Shown {
  readonly usual: Usual;
  readonly definitions?: Definitions | undefined;
  /** By step, where outliers are marked; `remark`: what is said of one. */
  readonly slow?: readonly boolean[];
  readonly remark?: (step: number) => string;
  /** Of time and share, those stand in the table that the chart shows. */
  readonly mode?: "absolute" | "percent";
}

/** Numbers of the steps in `rows`, a column for each. */
export function stepTable(steps: Steps, rows: readonly number[], shown: Shown): Table {
  const { labels, names } = steps;
  const telling = rows.some((step) => !isPlain(labels[step], names[step]));
  const marks = declaredCells<number>(steps.columns, {
    names: { key: "name", cell: (step) => names[step] },
    labels: { key: "label", hidden: !telling, cell: (step) => labels[step] ?? null },
    start_ns: { cell: (step) => steps.start_ns[step] },
    duration_ns: { family: PARTS, cell: (step) => steps.duration_ns[step] },
  });
  return tableOf(
    [
      ...marks.slice(0, 2),
      ...kindOf(steps, shown),
      ...marks.slice(2),
      ...differences(steps, shown),
      ...parts(steps, shown),
      ...uses(steps, shown),
    ],
    rows,
  );
}

type Columns = CellColumn<number>[];

/** The kind of a step, where there are several. */
function kindOf({ kinds, kind }: Steps, { definitions }: Shown): Columns {
  if (kinds.length === 0) return [];
  const help = definitionText(definitions ?? {}, "kind");
  const cell = (step: number) => {
    const found = kinds[kind[step] ?? -1];
    return found ? stepKindName(found) : null;
  };
  return [{ column: textColumn("kind", text.kind, { help }), cell }];
}

/** How far a step is from the usual one, and why. */
function differences(steps: Steps, { usual, slow = [], remark = String }: Shown): Columns {
  const length = (step: number) => steps.duration_ns[step] ?? 0;
  return [
    {
      column: numberColumn("delta_ns", text.delta, "ns", {
        family: PARTS,
        change: "plain",
        help: text.deltaHelp,
      }),
      cell: (step) => length(step) - usual.duration_ns,
    },
    {
      column: numberColumn("delta_percent", text.deltaPercent, "percent", {
        change: "plain",
        help: text.deltaPercentHelp,
      }),
      cell: (step) => (usual.duration_ns > 0 ? (length(step) / usual.duration_ns - 1) * 100 : null),
    },
    {
      column: textColumn("outlier", text.outlier, {
        help: text.outlierHelp,
        hidden: !slow.includes(true),
      }),
      cell: (step) => (slow[step] && cause(steps, usual, step) ? remark(step) : null),
    },
  ];
}

/** Each category as a time and as a share. */
function parts(steps: Steps, { definitions, mode }: Shown): Columns {
  return steps.categories.flatMap((category): Columns => {
    const label = categoryName(category);
    const ns = steps.category_ns[category] ?? [];
    const help = definitionText(definitions ?? {}, category);
    const hidden = mode === "percent";
    const percent = { label: text.percent(label), help: text.percentHelp(label) };
    return [
      {
        column: numberColumn(category, label, "ns", { family: PARTS, help, hidden }),
        cell: (step) => ns[step],
      },
      percentColumn(category, { ...percent, hidden: !hidden }, ns, steps),
    ];
  });
}

function uses(steps: Steps, { definitions }: Shown): Columns {
  return USES.flatMap((key) => {
    const ns = steps.use?.[`${key}_ns`];
    if (!ns) return [];
    const hidden = key === "communicating" || ns.every((time) => time === 0);
    const help = definitionText(definitions ?? {}, key);
    return [percentColumn(key, { label: text.percent(text.uses[key]), help, hidden }, ns, steps)];
  });
}

function percentColumn(
  key: string,
  said: Pick<Column, "label" | "help" | "hidden">,
  ns: readonly number[],
  steps: Steps,
): CellColumn<number> {
  return {
    column: { key: `${key}_percent`, type: "number", unit: "percent", bar: true, ...said },
    cell: (step) => share(ns[step], steps.duration_ns[step]),
  };
}

/** `ProfilerStep#5` says no more than 5. */
function isPlain(label: string | undefined, name: string | undefined): boolean {
  return label === undefined || label === `ProfilerStep#${name}`;
}

function share(part: number | undefined, whole: number | undefined): number | null {
  return part !== undefined && whole ? (part / whole) * 100 : null;
}
