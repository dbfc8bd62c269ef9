/** Dragging the name of a track: to another place, to the top, or out of sight. */
import { type PointerEvent, type RefObject, useState } from "react";
import { type DropTarget, type Landing, landingAt } from "./dragging";
import type { TrackRow, TrackRows } from "./track";

/** Moved no farther than this, it is no drag. */
const CLICK = 4;

export interface TrackDrag {
  readonly row: TrackRow;
  readonly landing: Landing | null;
  /** What the pointer is over: one of the two places to drop a track on. */
  readonly over: "pin" | "hide" | null;
}

export function useTrackDrag(
  rows: TrackRows,
  list: RefObject<HTMLElement | null>,
  onDrop: (row: TrackRow, target: DropTarget) => void,
) {
  const [drag, setDrag] = useState<TrackDrag | null>(null);
  const start = (row: TrackRow, event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0 || !list.current) return;
    const handle = event.currentTarget;
    const from = event.clientY;
    const ending = new AbortController();
    const { signal } = ending;
    let now: TrackDrag | null = null;
    handle.setPointerCapture(event.pointerId);
    const move = ({ clientX, clientY }: globalThis.PointerEvent) => {
      if (!list.current || (!now && Math.abs(clientY - from) <= CLICK)) return;
      const y = clientY - list.current.getBoundingClientRect().top;
      const zone = document
        .elementsFromPoint(clientX, clientY)
        .find((each) => each instanceof HTMLElement && each.dataset.drop);
      const over = zone instanceof HTMLElement ? zone.dataset.drop : null;
      now = {
        row,
        over: over === "pin" || over === "hide" ? over : null,
        landing: over ? null : landingAt(rows.rows, row, y),
      };
      setDrag(now);
    };
    const end = (take: boolean) => {
      ending.abort();
      setDrag(null);
      if (!take || !now) return;
      if (now.over) onDrop(row, { type: now.over });
      else if (now.landing) onDrop(row, { type: "before", key: now.landing.before });
    };
    handle.addEventListener("pointermove", move, { signal });
    handle.addEventListener("pointerup", () => end(true), { signal });
    handle.addEventListener("pointercancel", () => end(false), { signal });
    document.addEventListener(
      "keydown",
      (pressed) => {
        if (pressed.key !== "Escape") return;
        pressed.preventDefault();
        end(false);
      },
      { signal, capture: true },
    );
  };
  return { drag, start };
}
