/** What a search finds on all ranks that are shown, in order of time. Pure. */
import type { TimelineSearch } from "../../api";
import type { Density, PickedSlice } from "../../timeline";

/** What hits need to know of a rank. */
export interface Rank {
  readonly worker: string;
  /** ns to add to its times to have those of the page. */
  readonly offset: number;
}

export interface Found {
  readonly rank: Rank;
  readonly answer: TimelineSearch;
}

export interface Hits {
  /** How many there are. */
  readonly count: number;
  /** Of different names. */
  readonly names: number;
  /** The first ones in time; of equal times in the order of ranks. */
  readonly list: readonly PickedSlice[];
  /** ns of the page: all hits before it are in `list`. */
  readonly complete: number;
}

export function hitAt(rank: Rank, { hits }: TimelineSearch, at: number): PickedSlice | null {
  const [row, lane] = [hits.row[at], hits.lane[at]];
  const [start, duration] = [hits.start_ns[at], hits.duration_ns[at]];
  if (row === undefined || lane === undefined || start === undefined || duration === undefined)
    return null;
  return { worker: rank.worker, row, lane, start: start + rank.offset, duration };
}

export function mergeHits(parts: readonly Found[]): Hits {
  const all = parts.map(({ rank, answer }) =>
    answer.hits.row.flatMap((_, at) => hitAt(rank, answer, at) ?? []),
  );
  const ends = parts.map(({ answer }, at) =>
    answer.count > answer.hits.row.length
      ? (all[at]?.at(-1)?.start ?? Number.NEGATIVE_INFINITY)
      : Number.POSITIVE_INFINITY,
  );
  const names = new Set(parts.flatMap(({ answer }) => answer.names.map(({ name }) => name)));
  return {
    count: parts.reduce((sum, { answer }) => sum + answer.count, 0),
    names: Math.max(names.size, ...parts.map(({ answer }) => answer.names_total)),
    list: all.flat().sort((a, b) => a.start - b.start),
    complete: Math.min(...ends),
  };
}

/** Where a slice is among the hits, from 0; -1 when it is none, or when it is not known how many come before it. */
export function placeAmong({ list, complete }: Hits, { worker, row }: PickedSlice): number {
  const at = list.findIndex((hit) => hit.worker === worker && hit.row === row);
  const several = list[0] !== undefined && list.some((hit) => hit.worker !== list[0]?.worker);
  return several && (list[at]?.start ?? 0) >= complete ? -1 : at;
}

/** How many hits begin in each part of all that is shown, as parts of the most there are in one. */
export function densityOfHits(parts: readonly Found[]): Density | null {
  const [first] = parts;
  if (!first) return null;
  const start = Math.min(...parts.map(({ rank, answer }) => answer.density.from_ns + rank.offset));
  const end = Math.max(...parts.map(({ rank, answer }) => answer.density.to_ns + rank.offset));
  const bins = first.answer.density.counts.length;
  const sums = new Array<number>(bins).fill(0);
  for (const { rank, answer } of parts) {
    const { from_ns, to_ns, counts } = answer.density;
    for (const [at, n] of counts.entries()) {
      const middle = from_ns + rank.offset + ((at + 0.5) / counts.length) * (to_ns - from_ns);
      const into = Math.floor(((middle - start) / Math.max(1, end - start)) * bins);
      const bin = Math.min(Math.max(into, 0), bins - 1);
      sums[bin] = (sums[bin] ?? 0) + n;
    }
  }
  const most = Math.max(1, ...sums);
  return { window: { start, end }, values: sums.map((n) => n / most) };
}
