import { columnWords, tableTexts } from "../i18n";
import { type Cell, type Column, numberAt, type Table } from "./model";

interface Derivation {
  readonly column: Column;
  /** The new column stands behind this one; without it the derivation is skipped. */
  readonly after: string;
  readonly value: (table: Table, row: number) => Cell;
}

/** The table with the derived columns put behind their sources. */
export function derive(table: Table, derivations: readonly Derivation[]): Table {
  const columns = [...table.columns];
  const rows: Record<string, readonly Cell[]> = { ...table.rows };
  for (const { column, after, value } of derivations) {
    const place = columns.findIndex((existing) => existing.key === after);
    const length = table.rows[after]?.length ?? 0;
    if (place < 0) continue;
    columns.splice(place + 1, 0, column);
    rows[column.key] = Array.from({ length }, (_, row) => value(table, row));
  }
  return { columns, rows };
}

/** What a view says of derived columns in place of what they say by themselves; by key. */
type DerivedTexts = Readonly<Record<string, Partial<Column>>>;

/**
 * What the server declares that can be derived from its columns: shares of the columns that have a total (shown as the
 * column is), and averages per call (when asked for). It sorts and filters by the same columns under the same keys
 * (`tables/query/answer.py`).
 */
export function declared(
  { columns }: Pick<Table, "columns">,
  texts: DerivedTexts = {},
): Derivation[] {
  return columns.flatMap((column) => {
    const { key, total, average } = column;
    const label = columnWords(column).label;
    const found: Derivation[] = [];
    if (average && columns.some((other) => other.key === "calls")) {
      const averageOf = averageKey(key);
      found.push(
        perCall(column, {
          key: averageOf,
          label: tableTexts.perCall(label),
          help: tableTexts.perCallHelp(label),
          hidden: true,
          ...(column.largest === undefined ? {} : { largest: column.largest }),
          ...texts[averageOf],
        }),
      );
    }
    if (total) {
      const share = shareKey(key);
      found.push(
        shareOf(key, total, {
          key: share,
          label: tableTexts.share(label),
          help: tableTexts.shareHelp(label),
          ...(column.hidden && { hidden: true }),
          ...texts[share],
        }),
      );
    }
    return found;
  });
}

/** A table of the server with all that it declares. */
export function asDeclared(table: Table): Table {
  return derive(table, declared(table));
}

/** Columns with what a view says of some of them, by key. */
export function described(
  columns: readonly Column[],
  said: Readonly<Record<string, Partial<Column>>>,
): Column[] {
  return columns.map((column) => ({ ...column, ...said[column.key] }));
}

/** Columns of which some are not shown until somebody asks for them. */
export function hiding(columns: readonly Column[], keys: readonly string[]): Column[] {
  return columns.map((column) =>
    keys.includes(column.key) ? { ...column, hidden: true } : column,
  );
}

const UNIT = /_(ns|bytes)$/;

export function shareKey(key: string): string {
  return `${key.replace(UNIT, "")}_share`;
}

export function averageKey(key: string): string {
  return `${key.replace(UNIT, "")}_per_call${UNIT.exec(key)?.[0] ?? ""}`;
}

type Described = Pick<Column, "key" | "label" | "help"> & Partial<Column>;

/** `source` as percent of `total`. */
export function shareOf(
  source: string,
  total: number | null | undefined,
  column: Described,
): Derivation {
  return {
    column: { type: "number", unit: "percent", bar: true, ...column },
    after: source,
    value: (table, row) => {
      const part = numberAt(table.rows, source, row);
      return part === null || !total ? null : (part / total) * 100;
    },
  };
}

/** `source` divided by `calls`, in the unit of `source`. */
export function perCall(source: Pick<Column, "key" | "unit">, column: Described): Derivation {
  return {
    column: { type: "number", unit: source.unit, ...column },
    after: source.key,
    value: (table, row) => {
      const sum = numberAt(table.rows, source.key, row);
      const calls = numberAt(table.rows, "calls", row);
      return sum === null || !calls ? null : sum / calls;
    },
  };
}
