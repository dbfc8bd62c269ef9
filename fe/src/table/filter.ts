import { BYTES_PER } from "../format";
import { tableTexts } from "../i18n";
import { type Column, cellOf, isMissing, namesAt, type Rows, textAt } from "./model";
import { checkPattern } from "./pattern";

/** `found`: of each of `patterns`, the names that it matches. */
type Predicate = (rows: Rows, row: number, found: readonly ReadonlySet<string>[]) => boolean;

/** A regular expression that is to be matched with the names of a column. */
interface ColumnPattern {
  readonly column: Column;
  readonly source: string;
  readonly token: string;
}

export type FilterProblem =
  | { readonly kind: "unknown_column"; readonly token: string; readonly name: string }
  | { readonly kind: "bad_regex"; readonly token: string; readonly detail: string }
  | { readonly kind: "bad_number"; readonly token: string }
  | { readonly kind: "bad_unit"; readonly token: string; readonly name: string }
  | { readonly kind: "bad_operator"; readonly token: string; readonly name: string }
  | { readonly kind: "open_quote"; readonly token: string }
  | { readonly kind: "too_long"; readonly most: number };

export type FilterResult =
  | {
      readonly ok: true;
      readonly test: Predicate;
      readonly patterns: readonly ColumnPattern[];
      readonly empty: boolean;
    }
  | { readonly ok: false; readonly problem: FilterProblem };

// Names of C++ kernels have thousands of characters.
const LONGEST = 10_000;

/**
 * The filter box's language, as docs/tables.md describes it. `tables/query/grammar.py` is the same on the server,
 * and `tests/cases/table_query.json` holds both to the same answers. Tokens are separated by spaces and all must hold:
 * `conv relu` words in the search column, any case; `name~^aten::` regular expression; `calls>10`,
 * `device_self>5ms` comparison; `operator="aten::mm"` equality; `tensor_cores_used=yes`. Quotes keep spaces, and
 * a token that starts with a quote is always a word.
 */
export function parseFilter(
  text: string,
  columns: readonly Column[],
  searchKey: string,
): FilterResult {
  if (text.length > LONGEST) return fail({ kind: "too_long", most: LONGEST });
  const tokens = tokenize(text);
  if (tokens === null) return fail({ kind: "open_quote", token: text });
  const tests: Predicate[] = [];
  const patterns: ColumnPattern[] = [];
  for (const token of tokens) {
    const test = tokenTest(token, columns, searchKey, patterns);
    if (typeof test !== "function") return fail(test);
    tests.push(test);
  }
  return {
    ok: true,
    empty: tests.length === 0,
    patterns,
    test: (rows, row, found) => tests.every((test) => test(rows, row, found)),
  };
}

/** Each name of a column once. */
export function namesToMatch(column: Column, rows: Rows): string[] {
  const length = rows[column.key]?.length ?? 0;
  const names = new Set<string>();
  for (let row = 0; row < length; row++)
    for (const name of namesAt(column, rows, row)) names.add(name);
  return [...names];
}

/** Row numbers that pass, in order. */
export function filterRows(
  rows: Rows,
  length: number,
  test: (rows: Rows, row: number) => boolean,
): number[] {
  const kept: number[] = [];
  for (let row = 0; row < length; row++) if (test(rows, row)) kept.push(row);
  return kept;
}

/** A filter that most tables could have. */
export const WORDS = "conv relu";

/** A filter that this table could have, for the box to suggest. */
export function exampleFor(columns: readonly Column[]): string {
  const word = columns.some(({ type }) => type === "string") ? ["conv"] : [];
  const numbers = columns.filter(({ type }) => type === "number");
  const column = numbers.find(({ key }) => key === "calls") ?? numbers[0];
  if (!column) return WORDS;
  const least = LEAST[column.unit ?? "count"] ?? "10";
  return [...word, `${column.key.replace(/_(ns|bytes)$/, "")}>${least}`].join(" ");
}

const LEAST: Partial<Record<string, string>> = { ns: "1ms", bytes: "1MiB", percent: "10%" };

function fail(problem: FilterProblem): FilterResult {
  return { ok: false, problem };
}

/** Characters of one token; `quoted` marks those that stood in quotes and mean only themselves. */
interface Token {
  readonly text: string;
  readonly quotedFrom: number;
}

function tokenize(text: string): Token[] | null {
  const tokens: Token[] = [];
  let current = "";
  let quotedFrom = -1;
  let inQuotes = false;
  const flush = () => {
    if (current !== "" || quotedFrom >= 0) tokens.push({ text: current, quotedFrom });
    current = "";
    quotedFrom = -1;
  };
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (inQuotes && char === "\\" && /["\\]/.test(text.charAt(i + 1))) {
      current += text.charAt(++i);
    } else if (char === '"') {
      inQuotes = !inQuotes;
      if (quotedFrom < 0) quotedFrom = current.length;
    } else if (/\s/.test(char) && !inQuotes) {
      flush();
    } else {
      current += char;
    }
  }
  if (inQuotes) return null;
  flush();
  return tokens;
}

type Operator = "~" | "!=" | ">=" | "<=" | ">" | "<" | "=";

const NUMBER = /^([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*([a-zµ%]*(?:\/s)?)$/i;

function tokenTest(
  token: Token,
  columns: readonly Column[],
  searchKey: string,
  patterns: ColumnPattern[],
): Predicate | FilterProblem {
  const unquoted = token.quotedFrom < 0 ? token.text : token.text.slice(0, token.quotedFrom);
  const match = /^([A-Za-z_][\w ()%-]*?)(~|!=|>=|<=|==|>|<|=)/.exec(unquoted);
  const name = match?.[1];
  const sign = match?.[2];
  if (!name || !sign) return wordTest(token.text, searchKey);

  const operand = token.text.slice(name.length + sign.length);
  const column = findColumn(name, columns);
  if (!column) {
    // C++ kernel names are full of < and =; only what cannot be meant as a name is a mistake.
    return sign === "~" || NUMBER.test(operand)
      ? { kind: "unknown_column", token: token.text, name }
      : wordTest(token.text, searchKey);
  }
  const operator = (sign === "==" ? "=" : sign) as Operator;
  const refused = { kind: "bad_operator", token: token.text, name: column.label } as const;
  const asksEqual = operator === "=" || operator === "!=";
  switch (column.type) {
    case "number":
      return operator === "~" ? refused : numberTest(column, operator, operand, token.text);
    case "bool":
      return asksEqual ? (boolTest(column, operator, operand) ?? refused) : refused;
    default:
      if (operator === "~") return regexTest(column, operand, token.text, patterns);
      return asksEqual ? textTest(column, operator, operand) : refused;
  }
}

/** By key, by key without its unit, or by label; any case. */
function findColumn(name: string, columns: readonly Column[]): Column | undefined {
  const wanted = normal(name);
  return (
    columns.find(({ key }) => normal(key) === wanted) ??
    columns.find(({ key }) => normal(key.replace(/_(ns|bytes)$/, "")) === wanted) ??
    columns.find(({ label }) => normal(label) === wanted)
  );
}

function normal(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^a-z0-9%]+/g, "_")
    .replace(/^_+|_+$/g, "");
}

function wordTest(word: string, key: string): Predicate {
  const wanted = word.toLowerCase();
  // A long name is also found by what is shown of it.
  return (rows, row) =>
    [key, `short_${key}`].some((each) => textAt(rows, each, row).toLowerCase().includes(wanted));
}

/** Puts the regular expression to `patterns`. */
function regexTest(
  column: Column,
  source: string,
  token: string,
  patterns: ColumnPattern[],
): Predicate | FilterProblem {
  try {
    checkPattern(source, tableTexts.pattern);
  } catch (error) {
    return {
      kind: "bad_regex",
      token,
      detail: error instanceof Error ? error.message : String(error),
    };
  }
  const at = patterns.push({ column, source, token }) - 1;
  return (rows, row, found) => namesAt(column, rows, row).some((name) => found[at]?.has(name));
}

function textTest(column: Column, operator: Operator, operand: string): Predicate {
  const wanted = operand.toLowerCase();
  return (rows, row) =>
    namesAt(column, rows, row).some((name) => name.toLowerCase() === wanted) === (operator === "=");
}

const BOOLS: Record<string, boolean | null> = {
  yes: true,
  true: true,
  "1": true,
  no: false,
  false: false,
  "0": false,
  unknown: null,
  null: null,
};

/** Null for a word that is no truth. */
function boolTest({ key }: Column, operator: Operator, operand: string): Predicate | null {
  const word = operand.toLowerCase();
  const shown: Readonly<Record<string, boolean>> = {
    [tableTexts.yes.toLowerCase()]: true,
    [tableTexts.no.toLowerCase()]: false,
  };
  if (!Object.hasOwn(BOOLS, word) && !Object.hasOwn(shown, word)) return null;
  const wanted = shown[word] ?? BOOLS[word];
  return (rows, row) => ((cellOf(rows, key, row) ?? null) === wanted) === (operator === "=");
}

function numberTest(
  column: Column,
  operator: Operator,
  operand: string,
  token: string,
): Predicate | FilterProblem {
  const match = NUMBER.exec(operand);
  if (!match) return { kind: "bad_number", token };
  const factor = unitFactor(match[2] ?? "", column);
  if (factor === null) return { kind: "bad_unit", token, name: column.label };
  const limit = Number(match[1]) * factor;
  const compare = COMPARE[operator];
  return (rows, row) => {
    const cell = cellOf(rows, column.key, row);
    return typeof cell === "number" && !isMissing(cell) && compare(cell, limit);
  };
}

const COMPARE: Record<Operator, (cell: number, limit: number) => boolean> = {
  ">": (cell, limit) => cell > limit,
  ">=": (cell, limit) => cell >= limit,
  "<": (cell, limit) => cell < limit,
  "<=": (cell, limit) => cell <= limit,
  "=": (cell, limit) => cell === limit,
  "!=": (cell, limit) => cell !== limit,
  "~": () => false,
};

const FLOP = Object.fromEntries(
  ["", "k", "m", "g", "t", "p", "e"].map((prefix, power) => [`${prefix}flop`, 1000 ** power]),
);

/** KiB, and what people write for it: KB and K are 1024 bytes here, too. */
const SIZES = Object.fromEntries(
  Object.entries(BYTES_PER).flatMap(([name, size]) =>
    [name, name.replace("i", ""), name.charAt(0)].map((written) => [written.toLowerCase(), size]),
  ),
);

const UNITS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  ns: { ns: 1, us: 1e3, ms: 1e6, s: 1e9 },
  bytes: SIZES,
  // Of ten, as vendors write bandwidths.
  bytes_per_second: { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 },
  flop: FLOP,
  flop_per_second: FLOP,
  percent: { "%": 1 },
  fraction: { "%": 0.01 },
  count: { k: 1e3, m: 1e6 },
};

/** What the written number is multiplied with to compare it to the column's values; null for a unit that does not fit. */
function unitFactor(written: string, { unit }: Column): number | null {
  if (written === "") return 1;
  let name = written.toLowerCase().replace("µ", "u");
  const kind: string = unit !== null && unit in UNITS ? unit : "count";
  if (kind.endsWith("_per_second")) name = name.replace(/\/s$/, "");
  const factors = UNITS[kind] ?? {};
  return Object.hasOwn(factors, name) ? (factors[name] ?? null) : null;
}
