/** How the tracks are arranged, kept in the address. */
import { useCallback, useMemo } from "react";
import { change, setAddress, useAddress } from "../../state";
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

export interface TracksState {
  readonly arrangement: Arrangement;
  readonly act: (row: TrackRow, action: TrackAction) => void;
  readonly drop: (row: TrackRow, target: DropTarget) => void;
  readonly setFilter: (filter: string) => void;
  readonly showAll: () => void;
}

export function useArrangement(tracks: readonly Track[]): TracksState {
  const [toggled, setToggled] = useAddress(params.toggled);
  const [pinned, setPinned] = useAddress(params.pinned);
  const [hidden, setHidden] = useAddress(params.hidden);
  const [order, setOrder] = useAddress(params.order);
  const [filter, setFilter] = useAddress(params.tracks);
  const arrangement = useMemo<Arrangement>(
    () => ({
      toggled: new Set(toggled),
      pinned,
      hidden: new Set(hidden),
      order,
      filter,
    }),
    [toggled, pinned, hidden, order, filter],
  );
  const act = useCallback(
    ({ track: { key } }: TrackRow, action: TrackAction) => {
      switch (action) {
        case "toggle":
          return setToggled(without(toggled, key));
        case "pin":
          return setPinned(without(pinned, key));
        case "hide":
          return setHidden([...hidden, key]);
        case "up":
        case "down": {
          const next = reordered(tracks, arrangement, key, action === "up" ? -1 : 1);
          if (next) setOrder(next);
        }
      }
    },
    [arrangement, tracks, toggled, pinned, hidden, setToggled, setPinned, setHidden, setOrder],
  );
  const drop = useCallback(
    (row: TrackRow, target: DropTarget) => {
      if (target.type !== "before") return act(row, target.type);
      const { key } = row.track;
      if (row.pinned) return setPinned(placed(pinned, key, target.key));
      const next = movedBefore(tracks, arrangement, key, target.key);
      if (next) setOrder(next);
    },
    [act, arrangement, tracks, pinned, setPinned, setOrder],
  );
  return { arrangement, act, drop, setFilter, showAll };
}

function showAll(): void {
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
