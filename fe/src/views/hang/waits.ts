/** From a hang report to the ranks that wait together, and where their boxes stand. Pure. */
import type { Hang } from "../../api";
import type { WaitsData } from "../../charts";
import { rangesOf } from "../../format";
import { hang as text } from "../../i18n/en/hang";

type Named = Hang["report"]["named"][number];

/** Ranks that are in the same place: alike in all but their number. */
export interface Together {
  readonly ranks: readonly number[];
  /** Null where no dump says it. */
  readonly call: string | null;
  readonly group: string | null;
  readonly line: string | null;
  readonly isFinished: boolean;
  readonly waitsFor: readonly number[];
  readonly kind: Named["kind"] | null;
}

/** All ranks of the report, those that stopped the job first, then those that wait, the largest groups first. */
export function together({ report, others }: Pick<Hang, "report" | "others">): Together[] {
  const kinds = new Map(report.named.map(({ rank, kind }) => [rank, kind]));
  const waiting = new Set(report.waits.map(({ rank }) => rank));
  const done = new Set(others.map(({ rank }) => rank));
  const places = [
    ...report.waits.map((wait) => ({ ...wait, isFinished: false, waitsFor: wait.for })),
    ...others.map((each) => ({ ...each, isFinished: true, waitsFor: [] })),
    ...report.named
      .filter(({ rank }) => !waiting.has(rank) && !done.has(rank))
      .map(({ rank }) => ({ rank, ...NOWHERE })),
  ];
  const alike = new Map<string, Together & { ranks: number[] }>();
  for (const { rank, call, group, line, isFinished, waitsFor } of places) {
    const kind = kinds.get(rank) ?? null;
    const key = JSON.stringify([call, group, line, isFinished, waitsFor, kind]);
    const same = alike.get(key);
    if (same) same.ranks.push(rank);
    else alike.set(key, { ranks: [rank], call, group, line, isFinished, waitsFor, kind });
  }
  const weight = ({ kind, isFinished }: Together) => (kind !== null ? 0 : isFinished ? 2 : 1);
  return [...alike.values()].toSorted(
    (a, b) => weight(a) - weight(b) || b.ranks.length - a.ranks.length,
  );
}

const NOWHERE = { call: null, group: null, line: null, isFinished: false, waitsFor: [] } as const;

/** Boxes of those who stopped the job or wait, in columns by how many others stand between them and whoever they wait for. */
export function waitsData(
  all: readonly Together[],
  most: number,
): WaitsData & { readonly shown: readonly Together[]; readonly left: number } {
  const stuck = all.filter(({ kind, isFinished }) => kind !== null || !isFinished);
  const shown = stuck.slice(0, most);
  const boxOf = new Map(shown.flatMap(({ ranks }, box) => ranks.map((rank) => [rank, box])));
  const targets = shown.map(({ waitsFor }) => [
    ...new Set(waitsFor.flatMap((rank) => boxOf.get(rank) ?? [])),
  ]);
  const columns = columnsOf(
    shown.map(({ kind }) => kind !== null),
    targets,
  );
  const rows = new Map<number, number>();
  const boxes = shown.map(({ ranks, call, group, kind, isFinished }, box) => {
    const column = columns[box] ?? 0;
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return {
      title: ranksName(ranks),
      about: call === null || isFinished ? aboutStill(kind) : call,
      place: (isFinished ? null : group) ?? "",
      column,
      row,
      isNamed: kind !== null,
    };
  });
  const lines = targets.flatMap((each, from) => each.map((to) => ({ from, to })));
  return { shown, left: stuck.length - shown.length, boxes, lines };
}

export function ranksName(ranks: readonly number[]): string {
  return text.rankNames(rangesOf(ranks), ranks.length);
}

function aboutStill(kind: Named["kind"] | null): string {
  return kind === null ? text.noCall : text.kinds[kind];
}

/** Steps from each box to the nearest one that is to blame, or that waits for nobody. */
function columnsOf(isNamed: readonly boolean[], targets: readonly number[][]): number[] {
  const waiters = targets.map((): number[] => []);
  targets.forEach((each, from) => {
    for (const to of each) waiters[to]?.push(from);
  });
  const columns = targets.map((each, box): number => (isNamed[box] || each.length === 0 ? 0 : -1));
  const queue = columns.flatMap((column, box) => (column === 0 ? [box] : []));
  for (const box of queue) {
    for (const from of waiters[box] ?? []) {
      if (columns[from] !== -1) continue;
      columns[from] = (columns[box] ?? 0) + 1;
      queue.push(from);
    }
  }
  return columns.map((column) => Math.max(0, column));
}
