/** How the tracks are arranged, kept in the address. */
import { useCallback, useMemo } from "react";
import { useParam } from "../../state";
import {
  type Arrangement,
  reordered,
  type Track,
  type TrackAction,
  type TrackRow,
} from "../../timeline";
import { formatList, parseList } from "./look";

export interface TracksState {
  readonly arrangement: Arrangement;
  readonly act: (row: TrackRow, action: TrackAction) => void;
  readonly setFilter: (filter: string) => void;
  readonly showAll: () => void;
}

export function useArrangement(tracks: readonly Track[]): TracksState {
  const [x, setX] = useParam<string>("x", "");
  const [p, setP] = useParam<string>("p", "");
  const [d, setD] = useParam<string>("d", "");
  const [o, setO] = useParam<string>("o", "");
  const [filter, setFilter] = useParam<string>("f", "");
  const arrangement = useMemo<Arrangement>(
    () => ({
      toggled: new Set(parseList(x)),
      pinned: parseList(p),
      hidden: new Set(parseList(d)),
      order: parseList(o),
      filter,
    }),
    [x, p, d, o, filter],
  );
  const act = useCallback(
    ({ track: { key } }: TrackRow, action: TrackAction) => {
      const { toggled, pinned, hidden } = arrangement;
      switch (action) {
        case "toggle":
          return setX(formatList(without(toggled, key)));
        case "pin":
          return setP(formatList(without(pinned, key)));
        case "hide":
          return setD(formatList([...hidden, key]));
        case "up":
        case "down": {
          const next = reordered(tracks, arrangement, key, action === "up" ? -1 : 1);
          if (next) setO(formatList(next));
        }
      }
    },
    [arrangement, tracks, setX, setP, setD, setO],
  );
  const showAll = useCallback(() => {
    setD("");
    setFilter("");
  }, [setD, setFilter]);
  return { arrangement, act, setFilter, showAll };
}

/** Taken out if it is in it, else put at its end. */
function without(keys: Iterable<string>, key: string): string[] {
  const others = [...keys].filter((each) => each !== key);
  return others.length < [...keys].length ? others : [...others, key];
}
