/** Where a track lands whose name is dragged. Pure. */
import type { TrackRow } from "./track";

/** Before one of its siblings, or behind them all; to the top of the page; out of sight. */
export type DropTarget =
  | { readonly type: "before"; readonly key: string | null }
  | { readonly type: "pin" }
  | { readonly type: "hide" };

export interface Landing {
  /** The sibling before which it lands, null behind the last one. */
  readonly before: string | null;
  /** Where the gap is that it lands in, pixels from the top of all rows. */
  readonly y: number;
}

/** `y`: where the pointer is, pixels from the top of all rows. Null where the track stands already, or is alone. */
export function landingAt(rows: readonly TrackRow[], dragged: TrackRow, y: number): Landing | null {
  const siblings = rows.filter(
    ({ track, pinned }) =>
      pinned === dragged.pinned && (pinned || track.parent === dragged.track.parent),
  );
  const ends = siblings.map((row) => endOf(rows, row));
  const at = siblings.findIndex((row, i) => y < (row.y + (ends[i] ?? row.y)) / 2);
  const place = at < 0 ? siblings.length : at;
  const own = siblings.findIndex(({ track }) => track.key === dragged.track.key);
  if (place === own || place === own + 1) return null;
  const next = siblings[place];
  return { before: next?.track.key ?? null, y: next?.y ?? ends.at(-1) ?? 0 };
}

/** Where a row and all that stands in it end. */
function endOf(rows: readonly TrackRow[], row: TrackRow): number {
  const from = rows.indexOf(row);
  let last = row;
  for (const next of rows.slice(from + 1)) {
    if (row.pinned || next.level <= row.level) break;
    last = next;
  }
  return last.y + last.height;
}
