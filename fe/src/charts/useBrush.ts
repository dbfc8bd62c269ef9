import { type PointerEvent, useRef, useState } from "react";

/** Pixels that a pointer may move within a click. */
const STILL = 4;

/** Two places, in pixels from the left. */
export interface Brush {
  readonly left: number;
  readonly right: number;
}

/** What the pointer drags over, what hears it, and whether the click that follows was the end of a drag. */
export function useBrush(onBrush: ((brush: Brush) => void) | undefined) {
  const [ends, setEnds] = useState<{ from: number; to: number } | null>(null);
  const wasBrush = useRef(false);
  const placeOf = (event: PointerEvent) =>
    event.clientX - event.currentTarget.getBoundingClientRect().left;
  const brushOf = (from: number, to: number): Brush | null =>
    Math.abs(to - from) > STILL ? { left: Math.min(from, to), right: Math.max(from, to) } : null;
  const handlers = onBrush && {
    onPointerDown: (event: PointerEvent) => {
      wasBrush.current = false;
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      setEnds({ from: placeOf(event), to: placeOf(event) });
    },
    onPointerUp: (event: PointerEvent) => {
      if (!ends) return;
      setEnds(null);
      // Where it is released, not where it was last drawn: the last move may not have been drawn yet.
      const brush = brushOf(ends.from, placeOf(event));
      wasBrush.current = brush !== null;
      if (brush) onBrush(brush);
    },
    onPointerCancel: () => setEnds(null),
  };
  return {
    brush: ends && brushOf(ends.from, ends.to),
    isPressed: ends !== null,
    move: (event: PointerEvent) => ends && setEnds({ ...ends, to: placeOf(event) }),
    handlers,
    wasBrush,
  };
}
