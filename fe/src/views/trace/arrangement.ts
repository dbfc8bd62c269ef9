/** How the tracks are arranged, kept in the address. */
import { change, setAddress } from "../../state";
import {
  type Arrangement,
  type DropTarget,
  movedBefore,
  reordered,
  type Track,
  type TrackAction,
  type TrackRow,
} from "../../timeline";
import { params } from "./params";

/** What is arranged, and how it is now. */
interface Arranged {
  readonly tracks: readonly Track[];
  readonly arrangement: Arrangement;
}

export function arrange(
  { tracks, arrangement }: Arranged,
  { track: { key } }: TrackRow,
  action: TrackAction,
): void {
  const { toggled, pinned, hidden } = arrangement;
  switch (action) {
    case "toggle":
      setAddress(change(params.toggled, without([...toggled], key)));
      break;
    case "pin":
      setAddress(change(params.pinned, without(pinned, key)));
      break;
    case "hide":
      setAddress(change(params.hidden, [...hidden, key]));
      break;
    case "up":
    case "down":
      setOrder(reordered(tracks, arrangement, key, action === "up" ? -1 : 1));
  }
}

export function drop(arranged: Arranged, row: TrackRow, target: DropTarget): void {
  const { tracks, arrangement } = arranged;
  const { key } = row.track;
  if (target.type !== "before") arrange(arranged, row, target.type);
  else if (row.pinned)
    setAddress(change(params.pinned, placed(arrangement.pinned, key, target.key)));
  else setOrder(movedBefore(tracks, arrangement, key, target.key));
}

function setOrder(order: readonly string[] | null): void {
  if (order) setAddress(change(params.order, order));
}

export function showAll(): void {
  setAddress(change(params.hidden, []), change(params.tracks, ""));
}

/** Before another one of the list, or at its end. */
function placed(keys: readonly string[], key: string, before: string | null): string[] {
  const others = keys.filter((each) => each !== key);
  others.splice(before === null ? others.length : others.indexOf(before), 0, key);
  return others;
}

/** Taken out if it is in it, else put at its end. */
function without(keys: readonly string[], key: string): string[] {
  const others = keys.filter((each) => each !== key);
  return others.length < keys.length ? others : [...others, key];
}
