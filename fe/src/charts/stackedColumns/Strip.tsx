/** All items in a low strip, and the stretch of them that is shown above. For pointers; keys zoom in the picture. */
import { type PointerEvent, useEffect, useRef, useState } from "react";
import { crisp, readTheme, useBoxWidth } from "../../draw";
import { useComputed } from "../../host";
import { stackedColumnsTexts } from "../../i18n";
import { clampRange, type Range } from "./range";

const HEIGHT = 30;

interface Props {
  readonly order: readonly number[];
  readonly totals: readonly (number | null)[];
  readonly flagged: readonly boolean[];
  readonly range: Range | null;
  readonly onRange: (range: Range | null) => void;
}

interface Drag {
  readonly kind: "choose" | "move";
  readonly from: number;
  readonly range: Range;
}

export function Strip({ order, totals, flagged, range, onRange }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { box, width } = useBoxWidth();
  const theme = useComputed(box, readTheme);
  const [drag, setDrag] = useState<Drag | null>(null);

  useEffect(() => {
    const context = canvas.current && crisp(canvas.current, width, HEIGHT);
    if (!context || !theme) return;
    const colors = [theme.muted, theme.resolve("var(--danger)")] as const;
    drawStrip(context, order, totals, flagged, width, colors);
  }, [order, totals, flagged, width, theme]);

  const positionOf = (event: PointerEvent) => {
    const { left, width: whole } = event.currentTarget.getBoundingClientRect();
    return ((event.clientX - left) / Math.max(1, whole)) * order.length;
  };
  const onPointerDown = (event: PointerEvent) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    const from = positionOf(event);
    const inside = range && from >= range.from && from <= range.to;
    setDrag({
      kind: inside ? "move" : "choose",
      from,
      range: range ?? { from: 0, to: order.length },
    });
  };
  const onPointerMove = (event: PointerEvent) => {
    if (!drag) return;
    const to = positionOf(event);
    if (drag.kind === "move") {
      const by = to - drag.from;
      onRange(clampRange({ from: drag.range.from + by, to: drag.range.to + by }, order.length));
    } else if (Math.abs(to - drag.from) >= 1) {
      onRange(
        clampRange(
          { from: Math.floor(Math.min(to, drag.from)), to: Math.ceil(Math.max(to, drag.from)) },
          order.length,
        ),
      );
    }
  };
  const share = (position: number) => `${(position / Math.max(1, order.length)) * 100}%`;
  return (
    <div
      ref={box}
      className="columns-strip"
      style={{ height: HEIGHT }}
      title={stackedColumnsTexts.strip}
      aria-hidden="true"
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => setDrag(null)}
      onPointerCancel={() => setDrag(null)}
    >
      <canvas ref={canvas} style={{ width: "100%", height: HEIGHT }} />
      {range && (
        <span
          className="columns-window"
          style={{ left: share(range.from), width: share(range.to - range.from) }}
        />
      )}
    </div>
  );
}

/** A line of a pixel for each pixel: the largest of the items in it. */
function drawStrip(
  context: CanvasRenderingContext2D,
  order: readonly number[],
  totals: readonly (number | null)[],
  flagged: readonly boolean[],
  width: number,
  [usual, flag]: readonly [string, string],
): void {
  const pixels = Math.max(1, Math.floor(width));
  const most = totals.reduce<number>((largest, total) => Math.max(largest, total ?? 0), 0);
  if (most <= 0) return;
  for (let x = 0; x < pixels; x++) {
    const from = Math.floor((x / pixels) * order.length);
    const to = Math.max(from + 1, Math.floor(((x + 1) / pixels) * order.length));
    let largest = 0;
    let isFlagged = false;
    for (let position = from; position < to; position++) {
      const item = order[position] ?? -1;
      largest = Math.max(largest, totals[item] ?? 0);
      isFlagged ||= flagged[item] ?? false;
    }
    const height = (largest / most) * (HEIGHT - 4);
    context.fillStyle = isFlagged ? flag : usual;
    context.fillRect(x, HEIGHT - height, 1, height);
  }
}
