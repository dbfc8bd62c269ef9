/** What one picture of the tracks shows. */
import type { RecordAt } from "../api/snapshotTracks";
import type { TimeWindow } from "../draw";
import type { Camera } from "./camera";
import type { Colors } from "./colors";
import type { Arrow } from "./flows";
import type { Look } from "./look";
import type { RankTiles } from "./rankTiles";
import type { TrackRows } from "./track";

/** A slice, and what is known of where it is. */
export interface PickedSlice {
  readonly worker: string;
  readonly row: number;
  readonly lane: number;
  /** ns, of the page. */
  readonly start: number;
  readonly duration: number;
}

/** A record of the memory snapshot of a rank. */
export interface PickedRecord {
  readonly worker: string;
  readonly at: RecordAt;
}

/** What a click selects: each kind of track says what its own is. */
export type Picked = PickedSlice | PickedRecord;

/** The slice that is picked, if it is one. */
export function sliceOf(picked: Picked | null | undefined): PickedSlice | null {
  return picked && "row" in picked ? picked : null;
}

export interface Mark {
  readonly kind: "range" | "measure";
  readonly window: TimeWindow;
}

/** Moments that something is about, such as the instances of a finding: drawn over the whole height. */
export interface Flags {
  /** ns of the page, in order of time. */
  readonly windows: readonly TimeWindow[];
  /** Which of them is looked at, -1 for none. */
  readonly current: number;
}

export interface Scene {
  readonly sources: readonly RankTiles[];
  readonly rows: TrackRows;
  readonly camera: Camera;
  /** Pixels that are scrolled out of sight above. */
  readonly top: number;
  readonly height: number;
  readonly colors: Colors;
  readonly look: Look;
  readonly selected: PickedSlice | null;
  /** The slice from which to the selected one is measured. */
  readonly from: PickedSlice | null;
  /** What the selected slice is on other ranks. */
  readonly peers: readonly PickedSlice[];
  readonly hovered: PickedSlice | null;
  readonly mark: Mark | null;
  readonly flags: Flags | null;
  /** Starts of steps, ns of the page. */
  readonly steps: readonly number[];
  readonly arrows: readonly Arrow[];
}

export function sourceOf(
  { sources }: Pick<Scene, "sources">,
  worker: string,
): RankTiles | undefined {
  return sources.find((source) => source.worker === worker);
}
