/** The tables of the comparison, with the changes in percent and what became of each row. Pure. */
import type { Compared, ComparedTable, CompareMeasure } from "../../api";
import { percentChange } from "../../format";
import { t } from "../../i18n";
import {
  type Cell,
  type Column,
  changeOf,
  deltaOf,
  deltaPercentOf,
  numberAt,
  type Rows,
  STATUS,
  statusOf,
  type Table,
} from "../../table";
import { type Divisors, MEASURES, type Part } from "./parts";

const text = t.compare;
const exp = (key: string) => `exp_${key}`;

const STATUS_COLUMN: Column = {
  key: STATUS,
  label: text.columns.status,
  type: "string",
  unit: null,
  help: text.columns.statusHelp,
};

/** Operators: those of the whole program are those of the operator view. */
export function operatorsTable(answer: Compared, divisors: Divisors): Table {
  const { rows } = answer.operators;
  const device = MEASURED.some((key) => key.startsWith("device") && hasAny(rows, key));
  return comparedTable(answer.operators, divisors, {
    measures: device ? ["device_self_ns", "host_self_ns"] : ["host_self_ns"],
    shown: (key) =>
      key.startsWith(device ? "device_self" : "host_self") ||
      key === "calls" ||
      key === deltaOf("calls") ||
      key === exp("calls") ||
      (device && key === deltaOf("host_self_ns")),
    left: device ? [] : MEASURED.filter((key) => key.startsWith("device")),
  });
}

const MEASURED = ["device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns"];

export function kernelsTable(answer: Compared, divisors: Divisors): Table {
  return comparedTable(answer.kernels, divisors, {
    measures: ["total_ns"],
    shown: () => true,
    left: [],
  });
}

interface Choice {
  /** The first of these that has changed anywhere orders the rows and says what is more and what less. */
  readonly measures: readonly string[];
  /** Whether a column is shown without being asked for, by the measure it belongs to. */
  readonly shown: (key: string) => boolean;
  /** Measures that are left out. */
  readonly left: readonly string[];
}

function comparedTable(table: ComparedTable, divisors: Divisors, choice: Choice): Table {
  const measures = table.columns
    .map(({ key }) => key)
    .filter((key) => table.columns.some((column) => column.key === exp(key)))
    .filter((key) => !choice.left.includes(key));
  const length = table.rows.name?.length ?? 0;
  const rows: Record<string, readonly Cell[]> = { name: table.rows.name ?? [] };
  for (const key of measures) {
    const before = divided(table.rows[key], divisors.before);
    const after = divided(table.rows[exp(key)], divisors.after);
    rows[key] = before;
    rows[exp(key)] = after;
    rows[deltaOf(key)] = before.map((value, row) => (after[row] ?? 0) - value);
    rows[deltaPercentOf(key)] = before.map((value, row) => percentChange(value, after[row]));
  }
  const judged = choice.measures.find((key) => hasAny(rows, deltaOf(key))) ?? choice.measures[0];
  const changed = (row: number) => numberAt(rows, deltaOf(judged ?? ""), row) ?? 0;
  rows[STATUS] = Array.from(
    { length },
    (_, row) =>
      text.columns.statuses[
        statusOf(numberAt(rows, "calls", row), numberAt(rows, exp("calls"), row), changed(row))
      ],
  );
  const order = Array.from({ length }, (_, row) => row).sort(
    (a, b) => Math.abs(changed(b)) - Math.abs(changed(a)),
  );
  const columns = table.columns.flatMap((column): Column[] => {
    const of = column.key.replace(/^(exp|delta)_/, "");
    if (of !== column.key && !measures.includes(of)) return [];
    if (choice.left.includes(of)) return [];
    if (!measures.includes(of)) return [column];
    return completed({ ...column, hidden: !choice.shown(column.key.replace(/^exp_/, "")) }, of);
  });
  return {
    columns: withStatus(columns),
    rows: Object.fromEntries(
      Object.entries(rows).map(([key, cells]) => [key, order.map((row) => cells[row])]),
    ),
  };
}

/** A column of differences knows that it is one, and the percentages stand behind it. */
function completed(column: Column, of: string): Column[] {
  if (column.key !== deltaOf(of)) return [column];
  const change = changeOf(column);
  const label = column.label.replace(/^Δ /, "");
  return [
    { ...column, change },
    {
      key: deltaPercentOf(of),
      label: text.columns.deltaPercent(label),
      type: "number",
      unit: "percent",
      help: text.columns.deltaPercentHelp(label),
      change,
      // A percentage of calls says little that the calls do not.
      hidden: column.hidden || of === "calls",
    },
  ];
}

function withStatus([name, ...others]: readonly Column[]): Column[] {
  return name ? [name, STATUS_COLUMN, ...others] : [];
}

function divided(cells: readonly Cell[] | undefined, by: number): number[] {
  return (cells ?? []).map((cell) => (typeof cell === "number" ? cell / by : 0));
}

function hasAny(rows: Rows, key: string): boolean {
  return (
    (rows[key] ?? []).some((cell) => typeof cell === "number" && cell !== 0) ||
    (rows[exp(key)] ?? []).some((cell) => typeof cell === "number" && cell !== 0)
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
    [STATUS]: parts.map(
      ({ inBaseline, inExperiment, values }) =>
        text.columns.statuses[
          statusOf(
            Number(inBaseline),
            Number(inExperiment),
            values[measure].after - values[measure].before,
          )
        ],
    ),
    kind: parts.map(({ kind }) => text.kinds[kind] ?? kind),
    times: parts.map(({ times }) => times),
    path: parts.map(({ path }) => path),
  };
  for (const key of MEASURES) {
    rows[key] = parts.map(({ values }) => values[key].before);
    rows[exp(key)] = parts.map(({ values }) => values[key].after);
    rows[deltaOf(key)] = parts.map(({ values }) => values[key].after - values[key].before);
    rows[deltaPercentOf(key)] = parts.map(({ values }) =>
      percentChange(values[key].before, values[key].after),
    );
  }
  const numbers = [measure, ...MEASURES.filter((key) => key !== measure)].flatMap((key) =>
    [key, exp(key), deltaOf(key)].flatMap((name) => {
      const column = described.find((candidate) => candidate.key === name);
      return column ? completed({ ...column, hidden: key !== measure }, key) : [];
    }),
  );
  const kind = described.find(({ key }) => key === "kind");
  return {
    columns: [
      {
        key: "part",
        label: text.tables.part,
        type: "string",
        unit: null,
        help: text.tables.partHelp,
      },
      STATUS_COLUMN,
      ...(kind ? [kind] : []),
      ...(grouped
        ? [
            {
              key: "times",
              label: text.tables.times,
              type: "number",
              unit: "count",
              help: text.tables.timesHelp,
            } as const,
          ]
        : []),
      ...numbers,
      { key: "path", label: text.tables.path, type: "string", unit: null, hidden: true },
    ],
    rows,
  };
}
