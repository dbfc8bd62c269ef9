/** Tracks, and the rows that they are on the page. */

export interface Track {
  /** Unique among all ranks on the page, and the same whenever the trace is opened. */
  readonly key: string;
  /** The rank it belongs to. */
  readonly worker: string;
  /** The key of the group it is in; null for a rank. */
  readonly parent: string | null;
  /** Which of the kinds draws it: a name of `kinds/index.ts`. */
  readonly kind: string;
  /** Whether it holds other tracks. */
  readonly isGroup: boolean;
  readonly name: string;
  /** Numbers of the lanes of slices below each other, the outermost first; none of groups and of kinds that draw something else. */
  readonly lanes: readonly number[];
  /** Slices and instants in it, everything inside of groups included. */
  readonly events: number;
  /** Of a track that stands open however deep it is, and of one that is folded away, until it is toggled. */
  readonly first?: "open" | "folded";
  /** Which part of the data of its kind it shows, as that kind calls it. */
  readonly part?: string;
}

/** One lane of slices on the page. */
export interface LaneRow {
  readonly track: string;
  readonly worker: string;
  /** Its number among the lanes of the rank. */
  readonly lane: number;
  /** Pixels from the top of all rows. */
  readonly y: number;
  readonly height: number;
  /** Whether there is room for names. */
  readonly labels: boolean;
}

export interface TrackRow {
  readonly track: Track;
  /** How deep in the tree, 0 for a rank. */
  readonly level: number;
  readonly y: number;
  readonly height: number;
  readonly collapsed: boolean;
  readonly pinned: boolean;
  readonly lanes: readonly LaneRow[];
}

export interface TrackRows {
  readonly rows: readonly TrackRow[];
  /** Of all rows together. */
  readonly height: number;
  /** How many leaves are not shown because they are hidden or do not fit the filter. */
  readonly left: number;
}

/** Pixels that the name of a track needs. */
export const HEAD = 24;

/** The worker's name, which may hold anything, then a colon that is not in it. */
export function trackKey(worker: string, id: string): string {
  const name = worker.replace(/[%:]/g, (sign) => (sign === "%" ? "%25" : "%3A"));
  return `${name}:${id}`;
}
