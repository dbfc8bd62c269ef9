/** Memory snapshots of the processes that are shown: which are sure to be, and what of them is drawn. Pure. */
import type { SnapshotLinkAnswer } from "../../api/schema.gen";
import { bestOf, type Pair, partnersOf } from "../../api/snapshotLink";
import type { SnapshotTracks } from "../../api/snapshotTracks";
import type { CurrentTrace } from "../../state";
import { type LinkedSnapshot, type RankTiles, snapshotTracks, type Track } from "../../timeline";

/** A snapshot that may be of the same process as a rank. */
interface SnapshotOf {
  readonly rank: RankTiles;
  readonly worker: string;
  readonly span: string;
}

export interface LinkOf extends SnapshotOf {
  /** Null until it is here. */
  readonly answer: SnapshotLinkAnswer | null;
  readonly isPending: boolean;
}

export interface BestLink extends LinkOf {
  readonly answer: SnapshotLinkAnswer;
}

/** The best of those of a rank. */
export interface KnownSnapshot extends SnapshotOf {
  readonly link: SnapshotLinkAnswer["link"];
  /** ns to add to times of its recording to have those of the rank; null where that is not known. */
  readonly shift: number | null;
  /** What is known of its tracks. */
  readonly about: SnapshotTracks | null;
}

/** What to ask for, and of which rank it is. */
export function pairsOf(
  ranks: readonly RankTiles[],
  run: CurrentTrace["run"],
): (Pair & { readonly rank: RankTiles })[] {
  return ranks.flatMap((rank) => {
    const { run: name, worker, span } = rank.key;
    const own = run?.traces.find((each) => each.worker === worker && each.span === span);
    return partnersOf(run, own ?? null).map((other) => ({
      rank,
      trace: { run: name, worker, span },
      snapshot: { run: name, worker: other.worker, span: other.span },
    }));
  });
}

/** One of each rank that has any. */
export function bestLinks(ranks: readonly RankTiles[], links: readonly LinkOf[]): BestLink[] {
  return ranks.flatMap((rank) => {
    const own = links.filter((link) => link.rank === rank);
    const here = own.flatMap((link) => (link.answer ? [{ ...link, answer: link.answer }] : []));
    return bestOf(here, !own.some(({ isPending }) => isPending)) ?? [];
  });
}

/** What is drawn of each rank. */
export function drawnOf(known: readonly KnownSnapshot[]): Map<RankTiles, LinkedSnapshot> {
  return new Map(
    known.flatMap(({ rank, worker, span, link: { device }, shift, about }) => {
      if (device === null || shift === null || about === null) return [];
      const key = { run: rank.key.run, worker, span, device };
      return [[rank, { key, about, shift }] as const];
    }),
  );
}

/** Tracks of all ranks with those of their snapshots. */
export function tracksWithSnapshots(
  tracks: readonly Track[],
  drawn: ReadonlyMap<RankTiles, LinkedSnapshot>,
): readonly Track[] {
  if (drawn.size === 0) return tracks;
  return [
    ...tracks,
    ...[...drawn].flatMap(([rank, of]) => snapshotTracks(rank.worker, rank.meta, of)),
  ];
}
