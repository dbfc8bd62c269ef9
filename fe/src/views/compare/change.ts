/** What changed in the mean step: the rows of its waterfall, and the table of work. Pure. */
import type { Change, ChangedWork } from "../../api";
import { partName } from "../../draw/parts";
import { count, fraction, percentChange } from "../../format";
import { textFor } from "../../i18n";
import { change as changeTexts } from "../../i18n/en/change";
import {
  type Drawing,
  declaredTable,
  derive,
  numberAt,
  numberColumn,
  type Table,
  textColumn,
} from "../../table";

const text = changeTexts;

interface CauseRow {
  /** Null of all small ones together. */
  readonly cause: string | null;
  readonly before: number;
  readonly after: number;
  readonly delta: number;
  /** Where the bar begins: the sum of the changes above it, ns. */
  readonly start: number;
  /** Whether the interval of the change holds 0; null where there is none. */
  readonly isNoise: boolean | null;
  /** How many causes it stands for. */
  readonly causes: number;
}

interface ChangeBars {
  readonly rows: readonly CauseRow[];
  /** From the least to the largest running sum, ns: what the bars span; never of no length. */
  readonly low: number;
  readonly high: number;
}

/** At most this many causes have a row of their own. */
const MOST = 9;
/** Of the largest change: smaller ones are one row. */
const LEAST = 0.02;

/** A bar begins where the one above it ended, so that the last one ends at the change of the step. */
export function changeBars(causes: Change["causes"]): ChangeBars {
  const largest = Math.max(0, ...causes.map(({ delta_ns: delta }) => Math.abs(delta)));
  const large = causes
    .slice(0, MOST)
    .filter(({ delta_ns: delta }) => Math.abs(delta) >= LEAST * largest && delta !== 0);
  // One alone has its own name.
  const named = causes.length === large.length + 1 ? causes : large;
  const others = causes.slice(named.length);
  const rows: CauseRow[] = [];
  let start = 0;
  for (const each of named) {
    const noise = each.low_ns === null || each.high_ns === null;
    rows.push({
      cause: each.cause,
      before: each.before_ns,
      after: each.exp_ns,
      delta: each.delta_ns,
      start,
      isNoise: noise ? null : (each.low_ns ?? 0) <= 0 && (each.high_ns ?? 0) >= 0,
      causes: 1,
    });
    start += each.delta_ns;
  }
  if (others.length > 0) {
    const sum = (of: (each: Change["causes"][number]) => number) =>
      others.reduce((total, each) => total + of(each), 0);
    rows.push({
      cause: null,
      before: sum((each) => each.before_ns),
      after: sum((each) => each.exp_ns),
      delta: sum((each) => each.delta_ns),
      start,
      isNoise: null,
      causes: others.length,
    });
  }
  const ends = rows.flatMap((row) => [row.start, row.start + row.delta]);
  const low = Math.min(0, ...ends);
  const high = Math.max(0, ...ends);
  return high > low ? { rows, low, high } : { rows, low, high: low + 1 };
}

/** Short names of both sides, where they differ with an arrow; of several how many more. */
export function workTitle(row: ChangedWork): string {
  const { label: before, exp_label: after } = row;
  const title =
    before === null || after === null
      ? (before ?? after ?? "")
      : before === after
        ? before
        : `${before} → ${after}`;
  return row.names > 1 ? text.andMore(title, row.names - 1) : title;
}

/** Everything that a row puts together, a name each. */
export function namesOf(row: ChangedWork): { before: readonly string[]; after: readonly string[] } {
  const of = (kernels: readonly string[], operator: string | null) =>
    kernels.length > 0 ? kernels : operator === null ? [] : [operator];
  return {
    before: of(row.kernels, row.operator),
    after: of(row.exp_kernels, row.exp_operator),
  };
}

const VERDICTS = text.verdicts as Readonly<Record<string, string>>;

/** Of one cause, or of all; the largest change first, as the server has them. */
export function workRows(answer: Change, cause: string): readonly ChangedWork[] {
  return cause === "" ? answer.work : answer.work.filter(({ causes }) => causes.includes(cause));
}

/** What happened, by the sign of what it made: more calls or fewer, slower or faster. */
export function kindOf(kind: string, delta: number): string {
  if (delta === 0 && (kind === "calls" || kind === "speed")) return "same";
  if (kind === "calls") return delta > 0 ? "moreCalls" : "fewerCalls";
  if (kind === "speed") return delta > 0 ? "slower" : "faster";
  return kind;
}

/** The larger part of a row says what happened to it. */
function kindOfRow(row: ChangedWork): string {
  return kindOf(row.kind, row.kind === "calls" ? row.calls_ns : row.delta_ns);
}

/** Calls of a mean step are whole numbers, but where steps differ. */
function callsText(calls: number): string {
  return Number.isInteger(calls) ? count(calls) : calls.toFixed(1);
}

function isNoise({ verdict }: ChangedWork): boolean {
  return verdict === "unchanged" || verdict === "unclear";
}

const DRAWING: Drawing<ChangedWork> = {
  label: { key: "name", grow: true, cell: workTitle },
  operator: { cell: (row) => row.exp_operator ?? row.operator },
  kind: { words: text.kinds, cell: kindOfRow },
  delta_ns: { change: "cost", noise: "noise" },
  verdict: { words: VERDICTS },
  before_ns: { family: "step" },
  exp_ns: { family: "step" },
  calls_ns: { change: "cost" },
  speed_ns: { change: "cost" },
  how: { words: text.hows },
  causes: { key: "cause", cell: ({ causes }) => causes.map(partName).join(", ") },
};

export function workTable(columns: Change["columns"], work: readonly ChangedWork[]): Table {
  const table = declaredTable(columns, work, DRAWING);
  return derive({ ...table, rows: { ...table.rows, noise: work.map(isNoise) } }, [
    {
      column: numberColumn("delta_percent", "Δ %", "percent", {
        help: text.columns.shareHelp,
        change: "cost",
        noise: "noise",
      }),
      after: "delta_ns",
      value: ({ rows }, row) =>
        percentChange(numberAt(rows, "before_ns", row) ?? 0, numberAt(rows, "exp_ns", row) ?? 0),
    },
    {
      column: textColumn("both_calls", text.columns.bothCalls, { help: text.columns.callsHelp }),
      after: "exp_ns",
      value: ({ rows }, row) => {
        const [before, after] = ["calls", "exp_calls"].map((key) =>
          callsText(numberAt(rows, key, row) ?? 0),
        );
        return before === after ? before : `${before} → ${after}`;
      },
    },
  ]);
}

/** The interval of a relative change in words: `a typical step takes 27.8 to 52.4 % less`. */
export function intervalText(low: number, high: number): string {
  const [least, most] = [low, high].map((bound) => fraction(Math.abs(bound))) as [string, string];
  if (low < 0 && high > 0) return text.interval.both(least, most);
  const ends = low < 0 ? [most, least] : [least, most];
  const [near = "", far = ""] = ends;
  const range = near === far ? near : text.interval.range(near.replace(/ %$/, ""), far);
  return low < 0 ? text.interval.less(range) : text.interval.more(range);
}

/** What is not alike on both sides, in a sentence. */
export function differenceText({ what, base, new: other }: Change["differences"][number]): string {
  return text.differs(textFor(text.differences, what) ?? what, base, other);
}

/** Why a comparison would say nothing; empty where it says something. `unlike`: the programs have nothing in common. */
export function whyRefused({ differences }: Change, unlike: boolean): readonly string[] {
  const forbidding = differences.filter(({ forbids }) => forbids === "all");
  return [...(unlike ? [text.unlike] : []), ...forbidding.map(differenceText)];
}
