/** The parts of a comparison, as the chart and the table show them. Pure. */
import type { Compared, CompareMeasure, ComparePart } from "../../api";
import { bare, compareTexts } from "../../i18n";
import { numberAt, textAt } from "../../table";

/** What the numbers of each side are divided by. */
export interface Divisors {
  readonly before: number;
  readonly after: number;
}

export const UNDIVIDED: Divisors = { before: 1, after: 1 };

export interface Part {
  /** Null for several of one name, and where there is nothing to open. */
  readonly path: string | null;
  readonly title: string;
  readonly kind: string;
  readonly hasParts: boolean;
  /** How many of this name. */
  readonly times: number;
  /** False where that side has nothing. */
  readonly inBaseline: boolean;
  readonly inExperiment: boolean;
  /** Of each measure the two sides. */
  readonly values: Readonly<Record<CompareMeasure, Sides>>;
}

interface Sides {
  readonly before: number;
  readonly after: number;
}

export const MEASURES = ["total_ns", "device_ns", "duration_ns"] as const;

/** What everybody knows is left out, so that the names that differ can be read. */
export function briefName(name: string): string {
  return name
    .split(" … ")
    .map((one) => {
      const loader = /^enumerate\((DataLoader|DataPipe)\)#_?(.+?)(?:\.__next__)?$/.exec(one);
      if (loader) return `${loader[1]} (${loader[2]?.replace(/DataLoaderIter$/, "")})`;
      return one
        .replace(/^Optimizer\.(?:step|zero_grad)#/, "")
        .replace(/^autograd::engine::evaluate_function: (?:torch::autograd::)?/, "");
    })
    .join(" … ");
}

/** Both names where they differ. */
export function titleOf({ name, exp_name: other }: Pick<ComparePart, "name" | "exp_name">): string {
  const before = name === null ? null : briefName(name);
  const after = other === null ? null : briefName(other);
  if (before === null || after === null) return before ?? after ?? "";
  if (before === after) return before;
  const mode = /^(\S+) \((.+)\)$/;
  const [, role, one] = mode.exec(before) ?? [];
  const [, sameRole, another] = mode.exec(after) ?? [];
  return role && role === sameRole ? `${role} (${one} → ${another})` : `${before} → ${after}`;
}

/** What everything has besides its parts, by kind: their names are words of the page. */
const OTHERS: Readonly<Record<string, string>> = bare({
  before: compareTexts.kinds.before,
  rest: compareTexts.kinds.rest,
});

const isDivided = ({ before, after }: Divisors) => before !== 1 || after !== 1;

/** Work launched before the recording is of no step: sums per step are without it. */
export function partsOf(answer: Compared, divisors: Divisors): Part[] {
  const parts = allParts(answer, divisors);
  return isDivided(divisors) ? parts.filter(({ kind }) => kind !== "before") : parts;
}

/** What is shown adds up to this. */
export function totalOf(
  { totals, parts: { rows } }: Compared,
  measure: CompareMeasure,
  divisors: Divisors,
): Sides {
  const row = isDivided(divisors) ? (rows.kind ?? []).indexOf("before") : -1;
  const without = (key: string) => (row < 0 ? 0 : (numberAt(rows, key, row) ?? 0));
  return {
    before: (totals[measure] - without(measure)) / divisors.before,
    after: (totals[`exp_${measure}`] - without(`exp_${measure}`)) / divisors.after,
  };
}

function allParts({ parts: { rows } }: Compared, { before, after }: Divisors): Part[] {
  const side = (key: string, row: number, by: number) => (numberAt(rows, key, row) ?? 0) / by;
  return (rows.path ?? []).map((path, row) => {
    const kind = textAt(rows, "kind", row);
    const name = rows.name?.[row] == null ? null : textAt(rows, "name", row);
    const other = rows.exp_name?.[row] == null ? null : textAt(rows, "exp_name", row);
    const sides = (measure: CompareMeasure) => ({
      before: side(measure, row, before),
      after: side(`exp_${measure}`, row, after),
    });
    return {
      path: path === null ? null : String(path),
      title: OTHERS[kind] ?? titleOf({ name, exp_name: other }),
      kind,
      hasParts: rows.has_parts?.[row] === true,
      times: 1,
      inBaseline: name !== null,
      inExperiment: other !== null,
      values: {
        total_ns: sides("total_ns"),
        device_ns: sides("device_ns"),
        duration_ns: sides("duration_ns"),
      },
    };
  });
}

/** Parts of one kind and name as one, in the order in which they first come. */
export function byName(parts: readonly Part[]): Part[] {
  const sums = new Map<string, Part>();
  for (const part of parts) {
    const key = JSON.stringify([part.kind, part.title]);
    const sum = sums.get(key);
    sums.set(key, sum ? together(sum, part) : part);
  }
  return [...sums.values()];
}

function together(a: Part, b: Part): Part {
  const add = (measure: CompareMeasure) => ({
    before: a.values[measure].before + b.values[measure].before,
    after: a.values[measure].after + b.values[measure].after,
  });
  return {
    ...a,
    path: null,
    hasParts: a.hasParts || b.hasParts,
    times: a.times + b.times,
    inBaseline: a.inBaseline || b.inBaseline,
    inExperiment: a.inExperiment || b.inExperiment,
    values: {
      total_ns: add("total_ns"),
      device_ns: add("device_ns"),
      duration_ns: add("duration_ns"),
    },
  };
}

/** As many as can be told apart in one picture. */
export const SHOWN = 60;

export interface Window {
  /** Index of the first that is shown. */
  readonly first: number;
  /** Index behind the last. */
  readonly end: number;
}

/** `page` counts from 1; what is no page is the first or the last one. */
export function windowOf(length: number, page: number): Window {
  const pages = Math.max(1, Math.ceil(length / SHOWN));
  const at = Math.min(Math.max(1, Number.isInteger(page) ? page : 1), pages) - 1;
  return { first: at * SHOWN, end: Math.min(length, (at + 1) * SHOWN) };
}

/** What the parts before the window add up to. */
export function sumOf(parts: readonly Part[], measure: CompareMeasure): Sides {
  let before = 0;
  let after = 0;
  for (const { values } of parts) {
    before += values[measure].before;
    after += values[measure].after;
  }
  return { before, after };
}

/** Per step where both have steps, when asked for; without being asked where their numbers differ. */
export function dividesBySteps(
  wanted: "all" | "step" | null,
  before: number,
  after: number,
): boolean {
  if (before === 0 || after === 0) return false;
  return wanted === "step" || (wanted !== "all" && before !== after);
}
