/** The tables of the comparison, with the changes in percent and what became of each row. Pure. */
import type { Compared, ComparedTable, CompareMeasure } from "../../api";
import { percentChange } from "../../format";
import { columnWords, compareTexts as text } from "../../i18n";
import {
  type Cell,
  type Column,
  changeOf,
  deltaOf,
  deltaPercentOf,
  numberAt,
  numberColumn,
  type Rows,
  STATUS,
  statusColumn,
  statusOf,
  type Table,
  textColumn,
  withShortNames,
} from "../../table";
import { type Divisors, MEASURES, type Part } from "./parts";

const exp = (key: string) => `exp_${key}`;

/** In the order in which they stand. */
const OPERATOR_MEASURES = ["device_self_ns", "host_self_ns", "device_total_ns", "host_total_ns"];

/** Operators; of the whole program these are the rows of the operator view. */
export function operatorsTable({ operators }: Compared, divisors: Divisors): Table {
  const device = OPERATOR_MEASURES.some(
    (key) => key.startsWith("device") && isAny(operators.rows, key),
  );
  return comparedTable(operators, divisors, {
    measures: OPERATOR_MEASURES.filter((key) => device || !key.startsWith("device")),
    shown: device ? "device_self_ns" : "host_self_ns",
  });
}

export function kernelsTable({ kernels }: Compared, divisors: Divisors): Table {
  return comparedTable(kernels, divisors, {
    measures: ["total_ns"],
    shown: "total_ns",
  });
}

interface Choice {
  /** Besides the calls. The rows come by the change of the first, then of the next. */
  readonly measures: readonly string[];
  /** The one whose columns are shown without being asked for: it says whether a row is more or less. */
  readonly shown: string;
}

const CALLS = "calls";

function comparedTable(table: ComparedTable, divisors: Divisors, choice: Choice): Table {
  const { measures } = choice;
  const length = table.rows.name?.length ?? 0;
  const { name: names = [], short_name: short } = table.rows;
  const rows: Record<string, readonly Cell[]> = {
    name: names,
    ...(short && { short_name: short }),
  };
  for (const key of [CALLS, ...measures]) {
    const before = divided(table.rows[key], divisors.before);
    const after = divided(table.rows[exp(key)], divisors.after);
    Object.assign(rows, bothSides(key, before, after));
  }
  const changes = (row: number) => measures.map((key) => numberAt(rows, deltaOf(key), row) ?? 0);
  rows[STATUS] = Array.from({ length }, (_, row) => {
    const calls = [numberAt(rows, CALLS, row), numberAt(rows, exp(CALLS), row)] as const;
    return statusOf(...calls, numberAt(rows, deltaOf(choice.shown), row) ?? 0);
  });
  const sizes = Array.from({ length }, (_, row) => changes(row).map(Math.abs));
  const order = Array.from({ length }, (_, row) => row).sort((a, b) => {
    const differs = measures.findIndex((_, m) => sizes[a]?.[m] !== sizes[b]?.[m]);
    return differs < 0 ? 0 : (sizes[b]?.[differs] ?? 0) - (sizes[a]?.[differs] ?? 0);
  });
  // What is compared first stands first, where it is seen in any window.
  const others = measures.filter((key) => key !== choice.shown);
  const columns = [choice.shown, CALLS, ...others].flatMap((key) =>
    columnsOf(table.columns, key, [CALLS, choice.shown].includes(key), key === choice.shown),
  );
  const name = table.columns.find(({ key }) => key === "name");
  const sorted = {
    columns: [...(name ? [{ ...name }] : []), statusColumn(text.columns), ...columns],
    rows: Object.fromEntries(
      Object.entries(rows).map(([key, cells]) => [key, order.map((row) => cells[row])]),
    ),
  };
  return short ? withShortNames(sorted) : sorted;
}

/** A number on both sides, and how it changed. */
function bothSides(key: string, before: readonly number[], after: readonly number[]) {
  return {
    [key]: before,
    [exp(key)]: after,
    [deltaOf(key)]: before.map((value, row) => (after[row] ?? 0) - value),
    [deltaPercentOf(key)]: before.map((value, row) => percentChange(value, after[row])),
  };
}

/** The columns of such a number that the server describes. */
function columnsOf(
  described: readonly Column[],
  key: string,
  shown: boolean,
  percentShown: boolean,
): Column[] {
  return [key, exp(key), deltaOf(key)].flatMap((name) => {
    const column = described.find((candidate) => candidate.key === name);
    return column ? completed({ ...column, hidden: !shown }, key, percentShown) : [];
  });
}

/** A column of differences knows that it is one, and the percentages stand behind it. */
function completed(column: Column, of: string, percentShown: boolean): Column[] {
  if (column.key !== deltaOf(of)) return [column];
  const change = changeOf(column);
  const label = columnWords(column).label.replace(/^Δ /, "");
  return [
    { ...column, change },
    numberColumn(deltaPercentOf(of), text.columns.deltaPercent(label), "percent", {
      help: text.columns.deltaPercentHelp(label),
      change,
      hidden: !percentShown,
    }),
  ];
}

function divided(cells: readonly Cell[] | undefined, by: number): number[] {
  return (cells ?? []).map((cell) => (typeof cell === "number" ? cell / by : 0));
}

function isAny(rows: Rows, key: string): boolean {
  return [key, exp(key)].some((name) =>
    (rows[name] ?? []).some((cell) => typeof cell === "number" && cell !== 0),
  );
}

/** The parts as a table; `measure` is the one whose columns are shown. */
export function partsTable(
  { columns: described }: ComparedTable,
  parts: readonly Part[],
  measure: CompareMeasure,
  grouped: boolean,
): Table {
  const rows: Record<string, Cell[]> = {
    part: parts.map(({ title }) => title),
    [STATUS]: parts.map(({ inBaseline, inExperiment, values }) =>
      statusOf(
        Number(inBaseline),
        Number(inExperiment),
        values[measure].after - values[measure].before,
      ),
    ),
    kind: parts.map(({ kind }) => kind),
    times: parts.map(({ times }) => times),
    path: parts.map(({ path }) => path),
  };
  for (const key of MEASURES) {
    const [before, after] = (["before", "after"] as const).map((side) =>
      parts.map(({ values }) => values[key][side]),
    );
    Object.assign(rows, bothSides(key, before ?? [], after ?? []));
  }
  const numbers = [measure, ...MEASURES.filter((key) => key !== measure)].flatMap((key) =>
    columnsOf(described, key, key === measure, key === measure),
  );
  const kind = described.find(({ key }) => key === "kind");
  return {
    columns: [
      textColumn("part", text.tables.part, { help: text.tables.partHelp }),
      statusColumn(text.columns),
      ...(kind ? [{ ...kind, words: text.kinds }] : []),
      ...(grouped
        ? [
            numberColumn("times", text.tables.times, "count", {
              help: text.tables.timesHelp,
            }),
          ]
        : []),
      ...numbers,
      textColumn("path", text.tables.path, { hidden: true }),
    ],
    rows,
  };
}
