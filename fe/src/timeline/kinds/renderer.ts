/** What a kind of track is: one object with these methods, in a file of its own, and its line in `kinds/index.ts`. */
import type { TimelineMeta } from "../../api";
import type { Raster, TimeWindow, TooltipContent } from "../../draw";
import type { Camera } from "../camera";
import type { Items } from "../items";
import type { RankTiles, SourceClass } from "../rankTiles";
import type { Columns } from "../raster";
import type { Picked, Scene } from "../scene";
import type { Label } from "../text";
import type { LaneRow, Track, TrackRow } from "../track";

export interface TrackRenderer {
  /** Tracks of this kind that a rank has, besides its processes, threads and streams. */
  readonly tracks?: (rank: Rank) => NewTrack[];
  /** Pixels; a row is never lower than the name of its track. */
  readonly height: (shape: Shape) => number;
  /** Lanes of slices in the row, whose top is at `y`. */
  readonly lanes?: (shape: Shape, y: number) => LaneRow[];
  /** What holds the data of its rows, which asks for it before every frame; none where the rank itself says all. */
  readonly source?: SourceClass;
  /** Called in every frame in which a part of the row is in sight. */
  readonly draw: (row: TrackRow, frame: Frame) => void;
  /** What lies at a point: pixels from the left edge and from the top of all rows. */
  readonly hit: (row: TrackRow, x: number, y: number, view: View) => Hit | null;
  /** What the colours of a track mean, where they mean more than its name says. */
  readonly legend?: (track: Track, source: RankTiles) => TooltipContent | null;
}

/** What is known of a rank when its tracks are made. */
export interface Rank {
  readonly meta: TracksMeta;
  /** The key of the track of the rank itself. */
  readonly root: string;
  /** The key of a device's track, else that of the rank. */
  readonly ofDevice: (device: number | null) => string;
  /** The key of a group, which is made when it is first asked for. */
  readonly group: (id: string, parent: string, name: string, first: Track["first"]) => string;
  /** The key of a track that is called so in its rank. */
  readonly key: (id: string) => string;
}

export type TracksMeta = Pick<TimelineMeta, "tracks" | "lanes" | "counters" | "events" | "steps">;

type NewTrack = Pick<Track, "key" | "parent" | "name"> & Partial<Pick<Track, "events" | "part">>;

export interface Shape {
  readonly track: Track;
  readonly collapsed: boolean;
  /** Of a group: the tracks in it that are to be shown and hold no others. */
  readonly leaves: readonly Track[];
}

export interface View {
  readonly camera: Camera;
  /** Undefined when the rank is no longer shown. */
  readonly sourceOf: (worker: string) => RankTiles | undefined;
  /** To be filled and read at once. */
  readonly items: Items;
}

export interface Frame extends View {
  readonly scene: Scene;
  /** Pixels of the screen; the row `y` of the page is at `(y - scene.top) * ratio`. */
  readonly raster: Raster;
  readonly columns: Columns;
  /** Writes over the pixels, cut to the width of the label. */
  readonly write: (label: Label) => void;
}

/** What lies under a point. */
export interface Hit {
  /** What a click selects; null for nothing. */
  readonly picked: Picked | null;
  /** `whole`: all that can be looked at. */
  readonly tip: (whole: TimeWindow) => TooltipContent;
}
