/**
 * From the tree of tracks to rows below each other: what is collapsed, pinned, hidden, moved, filtered. Pure.
 *
 * A group (a rank, a process, a device) holds other tracks; a leaf (a thread, a stream, a counter) does not. How high a
 * row is, and which lanes it has, is up to the kind of its track.
 */
import { rendererOf } from "./kinds";
import { HEAD, type Track, type TrackRow, type TrackRows } from "./track";

/** Deeper tracks are collapsed until they are opened. */
const DEEP = 10;

/** How a person has arranged the tracks. */
export interface Arrangement {
  /** Opened if they are collapsed at first, and the other way round. */
  readonly toggled: ReadonlySet<string>;
  /** At the top, in this order. */
  readonly pinned: readonly string[];
  readonly hidden: ReadonlySet<string>;
  /** Tracks that were moved stand in this order among their siblings, before those that were not. */
  readonly order: readonly string[];
  /** A part of the name of a track, or of a group around it, in any case. */
  readonly filter: string;
}

export const UNARRANGED: Arrangement = {
  toggled: new Set(),
  pinned: [],
  hidden: new Set(),
  order: [],
  filter: "",
};

/** Whether a track is collapsed: what it is at first, turned round if it was toggled. */
export function isCollapsed(track: Track, { toggled }: Arrangement): boolean {
  const deep = !track.isGroup && track.lanes.length > DEEP;
  const atFirst = track.first === undefined ? deep : track.first === "folded";
  return atFirst !== toggled.has(track.key);
}

export function layOut(tracks: readonly Track[], arrangement: Arrangement): TrackRows {
  const children = childrenOf(tracks, arrangement.order);
  const wanted = matching(tracks, arrangement.filter);
  const rows: TrackRow[] = [];
  let y = 0;
  const add = (track: Track, level: number, pinned: boolean, leaves: readonly Track[]) => {
    const collapsed = isCollapsed(track, arrangement);
    const shape = { track, collapsed, leaves };
    const renderer = rendererOf(track);
    const height = Math.max(HEAD, renderer.height(shape));
    const lanes = renderer.lanes?.(shape, y) ?? [];
    rows.push({ track, level, y, height, collapsed, pinned, lanes });
    y += height;
  };

  const byKey = new Map(tracks.map((track) => [track.key, track]));
  const pinned = new Set(arrangement.pinned);
  const many = tracks.some(({ worker }) => worker !== tracks[0]?.worker);
  for (const key of pinned) {
    const track = byKey.get(key);
    if (!track || track.isGroup) continue;
    // Away from the group that says of which rank it is.
    const name = many ? `${track.worker} · ${track.name}` : track.name;
    add({ ...track, name }, 0, true, []);
  }

  const inside = (track: Track): Track[] => {
    if (arrangement.hidden.has(track.key)) return [];
    if (track.isGroup) return (children.get(track.key) ?? []).flatMap(inside);
    return wanted(track) && !pinned.has(track.key) ? [track] : [];
  };
  let seen = rows.length;
  const visit = (track: Track, level: number) => {
    const leaves = inside(track);
    if (leaves.length === 0) return;
    add(track, level, false, leaves);
    if (!track.isGroup) seen += 1;
    else if (isCollapsed(track, arrangement)) seen += leaves.length;
    else for (const child of children.get(track.key) ?? []) visit(child, level + 1);
  };
  for (const root of children.get(null) ?? []) visit(root, 0);
  const all = tracks.filter((track) => !track.isGroup).length;
  return { rows, height: y, left: all - seen };
}

/** The tracks inside of each group in the order in which they are shown. */
function childrenOf(
  tracks: readonly Track[],
  order: readonly string[],
): Map<string | null, Track[]> {
  const children = new Map<string | null, Track[]>();
  for (const track of tracks) {
    const siblings = children.get(track.parent);
    if (siblings) siblings.push(track);
    else children.set(track.parent, [track]);
  }
  const place = new Map(order.map((key, i) => [key, i]));
  for (const siblings of children.values()) {
    if (!siblings.some(({ key }) => place.has(key))) continue;
    // Sorting is stable: those that were not moved keep their order.
    siblings.sort(
      (a, b) => (place.get(a.key) ?? order.length) - (place.get(b.key) ?? order.length),
    );
  }
  return children;
}

/** Whether a leaf fits the filter: all words are in its name or in those of the groups around it. */
function matching(tracks: readonly Track[], filter: string): (track: Track) => boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return () => true;
  const byKey = new Map(tracks.map((track) => [track.key, track]));
  return (track) => {
    let names = "";
    for (
      let at: Track | undefined = track;
      at;
      at = at.parent === null ? undefined : byKey.get(at.parent)
    )
      names += `${at.name.toLowerCase()}\n`;
    return words.every((word) => names.includes(word));
  };
}

/** The rows of which a part lies between two heights: positions of the first and behind the last. */
export function rowsBetween(
  rows: readonly TrackRow[],
  top: number,
  bottom: number,
): [number, number] {
  let from = 0;
  let to = rows.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    const row = rows[middle];
    if (row && row.y + row.height <= top) from = middle + 1;
    else to = middle;
  }
  let end = from;
  while (end < rows.length && (rows[end]?.y ?? bottom) < bottom) end++;
  return [from, end];
}

export function rowAt(rows: readonly TrackRow[], y: number): TrackRow | null {
  const [at] = rowsBetween(rows, y, y);
  const row = rows[at];
  return row && y >= row.y && y < row.y + row.height ? row : null;
}

/** The order that puts a track before one of its siblings, or behind all of them. */
export function movedBefore(
  tracks: readonly Track[],
  { order }: Arrangement,
  key: string,
  before: string | null,
): string[] | null {
  const track = tracks.find((each) => each.key === key);
  if (!track || key === before) return null;
  const siblings = (childrenOf(tracks, order).get(track.parent) ?? []).map((each) => each.key);
  const others = siblings.filter((each) => each !== key);
  const at = before === null ? others.length : others.indexOf(before);
  if (at < 0) return null;
  others.splice(at, 0, key);
  const moved = new Set(siblings);
  return [...order.filter((each) => !moved.has(each)), ...others];
}

/** The order that puts a track before or behind its next sibling; null at the end of the list. */
export function reordered(
  tracks: readonly Track[],
  { order }: Arrangement,
  key: string,
  by: -1 | 1,
): string[] | null {
  const track = tracks.find((each) => each.key === key);
  if (!track) return null;
  const siblings = (childrenOf(tracks, order).get(track.parent) ?? []).map((each) => each.key);
  const at = siblings.indexOf(key);
  const other = siblings[at + by];
  if (other === undefined) return null;
  siblings[at + by] = key;
  siblings[at] = other;
  const moved = new Set(siblings);
  return [...order.filter((each) => !moved.has(each)), ...siblings];
}
