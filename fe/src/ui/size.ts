/** Sizes that the user sets by dragging an edge, remembered from visit to visit. */
import { useState } from "react";
import { readStored, writeStored } from "../host";

export interface Limits {
  readonly least: number;
  readonly usual: number;
  readonly most: number;
}

/** A stored text as a width. Pure. */
export function widthOf(stored: string | null, { least, usual, most }: Limits): number {
  const width = stored === null ? Number.NaN : Number(stored);
  return Number.isFinite(width) ? Math.min(most, Math.max(least, Math.round(width))) : usual;
}

const OPPOSITE = {
  ArrowLeft: "ArrowRight",
  ArrowRight: "ArrowLeft",
  ArrowUp: "ArrowDown",
} as const;

/** Where a key moves the edge, or null. `grow`: which arrow makes the part larger. Pure. */
export function widthAfter(
  key: string,
  width: number,
  { least, most }: Limits,
  grow: keyof typeof OPPOSITE,
): number | null {
  const STEP = 16;
  if (key === "Home") return least;
  if (key === "End") return most;
  if (key !== grow && key !== OPPOSITE[grow]) return null;
  const next = key === grow ? width + STEP : width - STEP;
  return Math.min(most, Math.max(least, next));
}

export function useWidth(name: string, limits: Limits): [number, (width: number | null) => void] {
  const key = `torch-tb-profiler.${name}-width`;
  const [width, setWidth] = useState(() => widthOf(readStored("localStorage", key), limits));
  /** Null: as it was in the beginning. */
  const set = (next: number | null) => {
    const text = next === null ? null : String(next);
    writeStored("localStorage", key, text);
    setWidth(widthOf(text, limits));
  };
  return [width, set];
}
