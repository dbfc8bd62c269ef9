/** Lines over a colour, which tell areas apart without it. Each is a tile, as a path of SVG. Pure. */

/** Pixels. */
export const HATCH_SIZE = 8;

export const HATCHES = [
  "M-2 2L2 -2M0 8L8 0M6 10L10 6",
  "M3 4h2M7 0h2M-1 0h2M-1 8h2M7 8h2",
  "M-2 6L2 10M0 0L8 8M6 -2L10 2",
  "M0 4H8",
  "M4 0V8",
  "M0 4H8M4 0V8",
  "M0 0L8 8M8 0L0 8",
  "M0 2H8M0 6H8",
  "M2 0V8M6 0V8",
  "M0 8L4 0L8 8",
] as const;
