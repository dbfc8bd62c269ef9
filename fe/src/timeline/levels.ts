/** Which tiles a window needs, and which of those that are here can stand in for one that is not. Pure. */
import type { TimeWindow } from "../draw";

export interface Level {
  readonly level: number;
  /** Slices at least as long are exact; 0: all are. */
  readonly width_ns: number;
  readonly tile_ns: number;
}

/** Anything wider is always drawn exactly. */
export const EXACT_PX = 3;

/** The coarsest level at which everything wider than three pixels is exact; `levels` from fine to coarse. */
export function levelFor(levels: readonly Level[], nsPerPixel: number): number {
  let best = 0;
  for (const [at, { width_ns }] of levels.entries())
    if (width_ns <= EXACT_PX * nsPerPixel) best = at;
  return best;
}

/** First and last tile of a level that a window touches. */
export function tilesOver({ tile_ns }: Level, { start, end }: TimeWindow): [number, number] {
  return [Math.floor(start / tile_ns), Math.floor(end / tile_ns)];
}

/** What is asked for of lanes that are asked for together. */
interface TileWanted {
  readonly key: string;
  readonly level: number;
  readonly tile: number;
}

/** The tiles that a window needs, and those that can stand in for them; none without a window. */
export function tilesWanted(
  levels: readonly Level[],
  wanted: number,
  window: TimeWindow | null,
): { readonly seen: TileWanted[]; readonly ahead: TileWanted[] } {
  const over = (level: number): TileWanted[] => {
    const at = levels[level];
    if (!at || !window) return [];
    const [first, last] = tilesOver(at, window);
    return Array.from({ length: last - first + 1 }, (_, i) => {
      const tile = first + i;
      return { key: `${level}/${tile}`, level, tile };
    });
  };
  const seen = over(wanted);
  return { seen, ahead: seen.length > 0 ? over(wanted + 1) : [] };
}

/** A tile to draw, and between which times. */
export interface Piece<T> {
  readonly tile: T;
  readonly from: number;
  readonly to: number;
}

/** How many finer levels are looked through: each has twice as many tiles. */
const FINER = 4;

/**
 * The best picture of a window: the tiles of the wanted level, and where one is missing a coarser one, stretched, else
 * finer ones. Pieces are in order and do not overlap.
 */
export function pieces<T>(
  levels: readonly Level[],
  wanted: number,
  window: TimeWindow,
  get: (level: number, tile: number) => T | undefined,
): Piece<T>[] {
  const found: Piece<T>[] = [];
  const level = levels[wanted];
  if (!level) return found;
  const [first, last] = tilesOver(level, window);
  for (let index = first; index <= last; index++) {
    const from = index * level.tile_ns;
    const to = from + level.tile_ns;
    const tile = get(wanted, index);
    if (tile !== undefined) found.push({ tile, from, to });
    else if (!coarser(levels, wanted, from, to, get, found))
      finer(levels, wanted - 1, { start: from, end: to }, get, found, FINER);
  }
  return found;
}

function coarser<T>(
  levels: readonly Level[],
  wanted: number,
  from: number,
  to: number,
  get: (level: number, tile: number) => T | undefined,
  found: Piece<T>[],
): boolean {
  for (let at = wanted + 1; at < levels.length; at++) {
    const tile = get(at, Math.floor(from / (levels[at]?.tile_ns ?? 1)));
    if (tile === undefined) continue;
    found.push({ tile, from, to });
    return true;
  }
  return false;
}

function finer<T>(
  levels: readonly Level[],
  at: number,
  { start, end }: TimeWindow,
  get: (level: number, tile: number) => T | undefined,
  found: Piece<T>[],
  depth: number,
): void {
  const level = levels[at];
  if (!level || depth === 0) return;
  const last = Math.ceil(end / level.tile_ns) - 1;
  for (let index = Math.floor(start / level.tile_ns); index <= last; index++) {
    const from = Math.max(start, index * level.tile_ns);
    const to = Math.min(end, (index + 1) * level.tile_ns);
    const tile = get(at, index);
    if (tile !== undefined) found.push({ tile, from, to });
    else finer(levels, at - 1, { start: from, end: to }, get, found, depth - 1);
  }
}
