/** The edge of a part of the page, to be dragged or moved by the arrow keys. */
// biome-ignore-all lint/a11y/useSemanticElements: an hr cannot have a value
import { type PointerEvent, useRef } from "react";
import { type Limits, widthAfter } from "./size";
import "./splitter.css";

const GROWS = { left: "ArrowLeft", right: "ArrowRight", top: "ArrowUp" } as const;

interface Props {
  label: string;
  /** The side of the part on which the edge is. */
  side: "left" | "right" | "top";
  /** At the top: the height. */
  width: number;
  limits: Limits;
  /** Null: the usual width. */
  onChange: (width: number | null) => void;
}

export function Splitter({ label, side, width, limits, onChange }: Props) {
  const start = useRef<{ at: number; width: number } | null>(null);
  const across = side === "top";
  const placeOf = (event: PointerEvent) => (across ? event.clientY : event.clientX);
  const clamp = (wanted: number) => Math.min(limits.most, Math.max(limits.least, wanted));
  const onPointerMove = (event: PointerEvent) => {
    if (!start.current) return;
    const moved = placeOf(event) - start.current.at;
    onChange(clamp(start.current.width + (side === "right" ? moved : -moved)));
  };
  return (
    <div
      className={`splitter ${side}`}
      role="separator"
      tabIndex={0}
      aria-orientation={across ? "horizontal" : "vertical"}
      aria-label={label}
      aria-valuemin={limits.least}
      aria-valuemax={limits.most}
      aria-valuenow={width}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        start.current = { at: placeOf(event), width };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={onPointerMove}
      onPointerUp={() => {
        start.current = null;
      }}
      onPointerCancel={() => {
        start.current = null;
      }}
      onDoubleClick={() => onChange(null)}
      onKeyDown={(event) => {
        const next = widthAfter(event.key, width, limits, GROWS[side]);
        if (next === null) return;
        event.preventDefault();
        onChange(next);
      }}
    />
  );
}
