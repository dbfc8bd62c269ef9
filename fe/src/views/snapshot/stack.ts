/** Allocations stacked over columns, and what lies at a place. Pure. */
import type { SnapshotTimelineAnswer } from "../../api/schema.gen";

/** What the server calls the lines that are not told apart. */
export const OTHERS = "(others)";

/** One band or allocation: from a column to another, between two heights in each. */
export interface Layer {
  readonly begin: number;
  readonly end: number;
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Index into `lines` of the answer; -1 of a band. */
  readonly line: number;
  /** Index of the band; -1 of an allocation. */
  readonly band: number;
  /** Index of the allocation; -1 of a band. */
  readonly shape: number;
}

export type Stacked = Pick<SnapshotTimelineAnswer, "requested" | "shapes" | "bands">;

/** From below in the order of births, then what is drawn together. In each column the last `high` is the curve. */
export function layersOf({ requested, shapes, bands }: Stacked): Layer[] {
  const columns = requested.length;
  const base = new Float64Array(columns);
  const layers: Layer[] = [];
  const put = (
    begin: number,
    end: number,
    size: (column: number) => number,
    who: Partial<Layer>,
  ) => {
    const low = base.slice(begin, end);
    for (let column = begin; column < end; column++)
      base[column] = (base[column] ?? 0) + size(column);
    layers.push({
      begin,
      end,
      low,
      high: base.slice(begin, end),
      line: -1,
      band: -1,
      shape: -1,
      ...who,
    });
  };
  shapes.begin.forEach((begin, shape) => {
    const end = Math.min(shapes.end[shape] ?? 0, columns);
    const size = shapes.bytes[shape] ?? 0;
    put(begin, end, () => size, { line: shapes.line[shape] ?? -1, shape });
  });
  bands.forEach(({ bytes }, band) => {
    put(0, columns, (column) => bytes[column] ?? 0, { band });
  });
  return layers;
}

/** What lies at a height of a column, the uppermost of several; null above everything. */
export function layerAt(layers: readonly Layer[], column: number, height: number): Layer | null {
  return (
    layers.findLast(
      ({ begin, end, low, high }) =>
        begin <= column &&
        column < end &&
        (low[column - begin] ?? 0) <= height &&
        height < (high[column - begin] ?? 0),
    ) ?? null
  );
}

/** Of each line its place by bytes in all columns, the most first: what its colour goes by. */
export function ranksOf({
  shapes,
  bands,
  lines,
}: Pick<SnapshotTimelineAnswer, "shapes" | "bands" | "lines">): Map<string, number> {
  const area = new Map<string, number>();
  const add = (line: string, size: number) => area.set(line, (area.get(line) ?? 0) + size);
  shapes.line.forEach((line, shape) => {
    const columns = (shapes.end[shape] ?? 0) - (shapes.begin[shape] ?? 0);
    add(lines[line] ?? "", columns * (shapes.bytes[shape] ?? 0));
  });
  for (const { name, bytes } of bands) {
    if (name !== OTHERS) for (const size of bytes) add(name, size);
  }
  const order = [...area].sort(([, a], [, b]) => b - a);
  return new Map(order.map(([line], rank) => [line, rank]));
}
