/** Where the parts of a page go that flow into columns: each to the column that ends first, below what is there. Pure. */

export interface Part {
  /** Pixels. */
  readonly height: number;
  /** As wide as the page: nothing is beside it. */
  readonly across: boolean;
  /** The column it stays in; undefined: the one that ends first. */
  readonly column: number | undefined;
}

export interface Place {
  /** null: all. */
  readonly column: number | null;
  readonly top: number;
  readonly bottom: number;
}

const STRETCH = 1.5;

/**
 * The last part of each column ends where the longest column ends, if it is not much higher for that. A part with no other
 * to be beside has the whole width.
 */
export function flow(parts: readonly Part[], columns: number, gap: number): Place[] {
  const places: Place[] = [];
  let top = 0;
  let start = 0;
  while (start < parts.length) {
    let end = start;
    while (end < parts.length && !parts[end]?.across) end++;
    const run = parts.slice(start, end);
    const next =
      run.length > 1 ? columnsOf(run, columns, gap, top) : run.map((part) => whole(part, top));
    places.push(...next);
    top = next.reduce((most, { bottom }) => Math.max(most, bottom + gap), top);
    const across = parts[end];
    if (across) {
      places.push(whole(across, top));
      if (across.height > 0) top += across.height + gap;
    }
    start = end + 1;
  }
  return places;
}

function whole({ height }: Part, top: number): Place {
  return { column: null, top, bottom: top + height };
}

function columnsOf(run: readonly Part[], columns: number, gap: number, top: number): Place[] {
  const ends = Array.from({ length: columns }, () => top);
  const last = new Map<number, number>();
  const places = run.map(({ height, column: stays }, at): Place => {
    const column = stays ?? ends.indexOf(Math.min(...ends));
    const from = ends[column] ?? top;
    ends[column] = from + height + gap;
    last.set(column, at);
    return { column, top: from, bottom: from + height };
  });
  const bottom = Math.max(...ends) - gap;
  const lasts = new Set(last.values());
  return places.map((place, at) =>
    lasts.has(at) && bottom - place.top <= STRETCH * (place.bottom - place.top)
      ? { ...place, bottom }
      : place,
  );
}

/** The edges of all places as lines of a grid: the heights of its rows, and the lines between which each place is. */
export function linesOf(places: readonly Place[]): { rows: number[]; spans: [number, number][] } {
  const edges = [...new Set([0, ...places.flatMap(({ top, bottom }) => [top, bottom])])].sort(
    (a, b) => a - b,
  );
  const line = new Map(edges.map((edge, at) => [edge, at + 1]));
  return {
    rows: edges.slice(1).map((edge, at) => edge - (edges[at] ?? 0)),
    spans: places.map(({ top, bottom }) => {
      const from = line.get(top) ?? 1;
      return [from, Math.max(from + 1, line.get(bottom) ?? 1)];
    }),
  };
}
