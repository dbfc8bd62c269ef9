/** The selected event: read from the address, fetched from the server, and scrolled into view. */
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type Result, type SliceDetails, timelineSearch, useTimelineSlice } from "../../api";
import { change, setAddress, useAddress } from "../../state";
import {
  type PickedSlice,
  placeOf,
  type RankTiles,
  type Stage,
  type TrackRows,
} from "../../timeline";
import { EVENT, type WantedEvent } from "./look";
import { params } from "./params";
import { pickedSlice } from "./pickedSlice";

export interface EventState {
  readonly source: RankTiles | null;
  readonly query: Result<SliceDetails>;
  /** Null while another slice was selected before. */
  readonly details: SliceDetails | null;
  readonly picked: PickedSlice | null;
  readonly wanted: boolean;
  /** `inSight`: it was clicked on, so the picture stays where it is. */
  readonly pick: (picked: PickedSlice | null, inSight?: boolean) => void;
}

/** Around a slice that a link leads to. */
const MARGIN = 3;

export function useEvent(
  sources: readonly RankTiles[],
  rows: TrackRows,
  stage: RefObject<Stage | null>,
): EventState {
  const [wanted, setWanted] = useAddress(params.event);
  const [window] = useAddress(params.window);
  const main = sources[0] ?? null;
  const source =
    wanted?.type === "row"
      ? (sources.find(({ worker }) => worker === (wanted.worker ?? main?.worker)) ?? null)
      : null;
  const row = wanted?.type === "row" ? wanted.row : null;
  const query = useTimelineSlice(source?.key ?? null, row);
  const details = query.data && query.data.row === row ? query.data : null;
  // Shown at once, until its details have come.
  const [clicked, setClicked] = useState<PickedSlice | null>(null);
  const seen = useRef<WantedEvent | null>(null);
  const atOnce = clicked?.row === row && clicked?.worker === source?.worker ? clicked : null;
  const picked = useMemo(
    () => (source && details ? pickedSlice(source, details) : atOnce),
    [source, details, atOnce],
  );

  const pick = useCallback(
    (next: PickedSlice | null, inSight = false) => {
      setClicked(next && next.lane >= 0 ? next : null);
      const event: WantedEvent | null = next && {
        type: "row",
        worker: next.worker === main?.worker ? null : next.worker,
        row: next.row,
      };
      if (inSight) seen.current = event;
      setWanted(event);
    },
    [main, setWanted],
  );

  // A name's longest slice is looked up once; from then on the address has its number.
  const name = wanted?.type === "longest" ? wanted.name : null;
  useEffect(() => {
    if (name === null || !main) return;
    const controller = new AbortController();
    timelineSearch(
      main.key,
      { q: name.slice(0, 1_000), case: "match", hits: 1, bins: 1 },
      controller.signal,
    ).then(
      ({ names }) => {
        const found = names.find((each) => each.name === name) ?? names[0];
        if (found) setWanted({ type: "row", worker: null, row: found.longest_row });
        else setAddress(change(params.event, null), change(params.search, name));
      },
      () => undefined,
    );
    return () => controller.abort();
  }, [name, main, setWanted]);

  // After opening a link it must be brought into sight; after a click it is.
  useEffect(() => {
    if (!source || !details || sameEvent(seen.current, wanted) || !stage.current) return;
    seen.current = wanted;
    const now = pickedSlice(source, details);
    if (window === null)
      stage.current.fit({ start: now.start, end: now.start + now.duration }, MARGIN);
    stage.current.reveal(now, placeOf(rows, source, now.lane));
  });

  return { source, query, details, picked, wanted: row !== null, pick };
}

function sameEvent(a: WantedEvent | null, b: WantedEvent | null): boolean {
  return EVENT.format(a) === EVENT.format(b);
}
