/** Lanes that are computed, and the slack of slices, as far as the address wants them. */
import { DERIVED_KINDS, type DerivedKind, type DerivedMeta, type StepChoice } from "../../api";
import { timelineTexts } from "../../i18n";
import {
  DerivedSource,
  derivedTracks,
  LaneTiles,
  type RankTiles,
  type Track,
  withDerived,
} from "../../timeline";
import type { WantedLanes } from "./look";

/** Lanes of a kind, of a rank. */
interface LanesOf {
  readonly rank: RankTiles;
  readonly of: DerivedKind;
}

/** What the server says of the lanes of a kind; null until it is here. */
export interface DerivedOf extends LanesOf {
  readonly about: DerivedMeta | null;
}

/** What is to be asked for: slack is known with the critical path. */
export function askedOf(
  ranks: readonly RankTiles[],
  wanted: WantedLanes,
  slack: number | null,
): LanesOf[] {
  return ranks.flatMap((rank) => {
    const shown = shownOf(ranks, rank, wanted);
    return DERIVED_KINDS.filter(
      (of) => shown.includes(of) || (of === "path" && slack !== null),
    ).map((of) => ({ rank, of }));
  });
}

/** What a rank shows: without a wish all of the page's own rank, so that stacked ranks are not three times as many questions. */
function shownOf(
  ranks: readonly RankTiles[],
  rank: RankTiles,
  wanted: WantedLanes,
): readonly DerivedKind[] {
  return wanted ?? (rank === ranks[0] ? DERIVED_KINDS : []);
}

function aboutOf(known: readonly DerivedOf[], rank: RankTiles, of: DerivedKind) {
  return known.find((each) => each.rank === rank && each.of === of)?.about ?? null;
}

/** Has the ranks draw what is wanted and known. `how`: how the steps are found that it is about. */
export function showDerived(
  ranks: readonly RankTiles[],
  wanted: WantedLanes,
  known: readonly DerivedOf[],
  how: StepChoice,
): void {
  for (const rank of ranks) {
    const shown = shownOf(ranks, rank, wanted);
    for (const of of DERIVED_KINDS)
      rank
        .source(DerivedSource)
        .show(of, shown.includes(of) ? aboutOf(known, rank, of) : null, how);
    rank.source(LaneTiles).findSlack(aboutOf(known, rank, "path")?.has_slack ? how : null);
  }
}

/** Tracks of all ranks, with those that are computed. */
export function tracksWith(
  ranks: readonly RankTiles[],
  wanted: WantedLanes,
  known: readonly DerivedOf[],
): Track[] {
  return ranks.flatMap((rank) =>
    withDerived(
      rank.tracks,
      shownOf(ranks, rank, wanted).flatMap((of) => {
        const about = aboutOf(known, rank, of);
        return about ? derivedTracks(rank.worker, rank.meta, of, about, timelineTexts.derived) : [];
      }),
    ),
  );
}

/** How long the longest step takes, ns; 0 until it is known. */
export function longestStepOf(known: readonly DerivedOf[]): number {
  return Math.max(0, ...known.map(({ about }) => about?.longest_step_ns ?? 0));
}
