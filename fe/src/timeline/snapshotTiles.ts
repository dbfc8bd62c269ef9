/** What a memory snapshot of the same process says in the time of a rank: curves and calls of the allocator, in columns. */
import {
  type SnapshotColumns,
  type SnapshotDeviceKey,
  type SnapshotTracks,
  snapshotColumns,
} from "../api/snapshotTracks";
import type { TimeWindow } from "../draw";
import { LeveledTiles } from "./leveledTiles";
import type { RankTiles } from "./rankTiles";
import { TileRoom } from "./room";
import { type Sight, Together, type TrackSource } from "./trackSource";

/** Of a tile: about a pixel each. */
const COLUMNS = 512;
/** Bytes that are kept. */
const KEPT = 16 * 1024 * 1024;
/** Bytes of a number in an answer, about. */
const NUMBER = 8;

/** A snapshot that is sure to be of the same process as a rank. */
export interface LinkedSnapshot {
  readonly key: SnapshotDeviceKey;
  readonly about: SnapshotTracks;
  /** ns to add to times of its recording to have those of the rank. */
  readonly shift: number;
}

interface SnapshotTile {
  readonly answer: SnapshotColumns;
  /** ns of the rank. */
  readonly begin: number;
  /** Of a column, ns. */
  readonly width: number;
}

/** A stretch in which a curve stays between two values: a column with records, or all until the next one. */
export interface Stretch {
  /** ns of the rank. */
  readonly from: number;
  readonly to: number;
  readonly least: number;
  readonly most: number;
  /** Bytes of each line of the program, which add up to `most`; none of curves that are not told apart. */
  readonly lines: (line: number) => number;
}

class SnapshotRoom extends TileRoom<SnapshotTile> {
  constructor() {
    super(KEPT);
  }
}

/** The memory snapshot of the same process as a rank, while one is known. */
export class SnapshotSource extends Together implements TrackSource {
  tiles: SnapshotTiles | null = null;
  /** What is looked at, ns of the rank; null for nothing. */
  picked: number | null = null;

  constructor(private readonly rank: RankTiles) {
    super();
  }

  protected get stores() {
    return this.tiles === null ? [] : [this.tiles];
  }

  /** Shows a snapshot and a moment of it, or takes them away. */
  show(of: LinkedSnapshot | null, picked: number | null): void {
    const isOther = (this.tiles?.of ?? null) !== of;
    if (!isOther && this.picked === picked) return;
    if (isOther) {
      this.tiles?.close();
      this.tiles = of && new SnapshotTiles(of, this.rank);
    }
    this.picked = picked;
    this.rank.changed();
  }

  want(sight: Sight): void {
    this.tiles?.want(sight);
  }

  override close(): void {
    super.close();
    this.tiles = null;
  }
}

export class SnapshotTiles extends LeveledTiles<SnapshotTile> {
  constructor(
    readonly of: LinkedSnapshot,
    rank: RankTiles,
  ) {
    super(rank, {
      load: async (_, { start: begin, end }, signal) => {
        const width = (end - begin) / COLUMNS;
        const window = { start: begin - of.shift, width, columns: COLUMNS };
        return { answer: await snapshotColumns(of.key, window, signal), begin, width };
      },
      weigh: ({ answer }) => NUMBER * answer.column.length * (answer.lines.length * 2 + 13) + 1_000,
      room: rank.memory.of(SnapshotRoom),
    });
  }

  /** From the first record to the last, ns of the rank: of what is before and behind them nothing is known. */
  get known(): TimeWindow | null {
    const { start_ns, end_ns } = this.of.about;
    if (start_ns === null || end_ns === null) return null;
    return { start: start_ns + this.of.shift, end: end_ns + this.of.shift };
  }

  /** Bytes at the top of all rows, so that curves can be compared. */
  get most(): number {
    return Math.max(1, ...this.of.about.curves.map(({ most }) => most));
  }

  /** What a curve is in a window, as far as it is known and here; in order of time. */
  stretches(kind: string, level: number, window: TimeWindow): Stretch[] {
    const { known } = this;
    if (!known) return [];
    return this.pieces(level, window).flatMap(({ tile, from, to }) =>
      stretchesOf(tile, kind, Math.max(from, known.start), Math.min(to, known.end)),
    );
  }
}

/** A curve in a part of a tile. Pure. */
export function stretchesOf(
  { answer, begin, width }: SnapshotTile,
  kind: string,
  from: number,
  to: number,
): Stretch[] {
  const curve = answer.curves.find((each) => each.kind === kind);
  if (!curve || from >= to) return [];
  const told = kind === "requested";
  const found: Stretch[] = [];
  const add = (
    start: number,
    end: number,
    least: number,
    most: number,
    lines: (line: number) => number,
  ) => {
    const [first, last] = [Math.max(start, from), Math.min(end, to)];
    if (first < last) found.push({ from: first, to: last, least, most, lines });
  };
  const { column, before, lines, last } = answer;
  const of = (list: readonly (readonly number[])[], at: number) => (line: number) =>
    told ? (list[line]?.[at] ?? 0) : 0;
  const first = column[0];
  const firstAt = first === undefined ? to : begin + first * width;
  if (curve.before !== null) {
    const value = curve.before;
    add(from, firstAt, value, value, (line) => (told ? (before?.[line] ?? 0) : 0));
  }
  for (const [at, each] of column.entries()) {
    const start = begin + each * width;
    const next = column[at + 1];
    add(start, start + width, curve.least[at] ?? 0, curve.most[at] ?? 0, of(lines, at));
    const value = curve.last[at] ?? 0;
    const until = next === undefined ? to : begin + next * width;
    add(start + width, until, value, value, of(last, at));
  }
  return found;
}
