/** The binary answers of docs/maintainers/timeline-protocol.md as columns. Pure; nothing is copied. */

const MAGIC = 0x314c5454;
const TILE = 1;
const COUNTERS = 3;
const TILE_OF_OPERATORS = 4;
const TILE_WITH_SLACK = 5;
const TILE_WITH_BOTH = 6;
/** Of lanes that are computed: the column of operators says why what comes behind could not come earlier. */
const DERIVED = 7;
const WITH_OPERATORS: readonly number[] = [TILE_OF_OPERATORS, TILE_WITH_BOTH, DERIVED];
const WITH_SLACK: readonly number[] = [TILE_WITH_SLACK, TILE_WITH_BOTH];
/** In place of a name. */
export const NO_NAME = 0xffffffff;
const HEAD = 40;

/** Everything on some lanes that touches a stretch of time, by lane, then by time. */
export interface Tile {
  readonly level: number;
  readonly index: number;
  /** ns. */
  readonly begin: number;
  readonly tick: number;
  readonly lanes: Uint32Array;
  /** Of each lane the first item; one more for the end of the last. */
  readonly first: Uint32Array;
  /** Ticks from `begin`. */
  readonly start: Int32Array;
  readonly end: Int32Array;
  /** Of the slice, or of the longest slice of a cell. */
  readonly row: Uint32Array;
  readonly name: Uint32Array;
  /** Slices in it: 1 is a slice as it is, more are a cell. */
  readonly count: Uint32Array;
  /** Name of the operator that it is, or that called or launched it; NO_NAME for none. Null when it was not asked for. */
  readonly operator: Uint32Array | null;
  /** Least slack of its slices, ns; NaN where it is not known. Null when it was not asked for. */
  readonly slack: Float32Array | null;
  readonly category: Uint8Array;
  /** Part of it in which slices ran, 255 is all. */
  readonly fill: Uint8Array;
  readonly bytes: number;
}

export interface CounterTile {
  readonly begin: number;
  readonly bin: number;
  /** Of each counter that was asked for; NaN where it has no value. */
  readonly values: readonly {
    min: Float64Array;
    max: Float64Array;
    last: Float64Array;
    /** Over time. */
    mean: Float64Array;
  }[];
  readonly bytes: number;
}

/** The answer is not what the protocol says: another version of the server, or a broken transfer. */
export class DecodeError extends Error {
  override name = "DecodeError";
}

export function decodeTile(buffer: ArrayBuffer): Tile {
  const head = opened(buffer, TILE, ...WITH_OPERATORS, ...WITH_SLACK);
  const kind = head.getUint32(4, true);
  const [hasOperators, hasSlack] = [WITH_OPERATORS.includes(kind), WITH_SLACK.includes(kind)];
  const lanes = head.getUint32(32, true);
  const items = head.getUint32(36, true);
  expectSize(
    buffer,
    HEAD + 4 * lanes + 4 * (lanes + 1) + (22 + (hasOperators ? 4 : 0) + (hasSlack ? 4 : 0)) * items,
  );
  let at = HEAD;
  const words = (length: number) => {
    const column = new Uint32Array(buffer, at, length);
    at += 4 * length;
    return column;
  };
  const numbers = words(lanes);
  const first = words(lanes + 1);
  const start = new Int32Array(buffer, at, items);
  const end = new Int32Array(buffer, at + 4 * items, items);
  at += 8 * items;
  const [row, name, count] = [words(items), words(items), words(items)];
  const operator = hasOperators ? words(items) : null;
  const slack = hasSlack ? new Float32Array(buffer, at, items) : null;
  if (slack) at += 4 * items;
  return {
    level: head.getUint32(8, true),
    index: head.getInt32(12, true),
    begin: head.getFloat64(16, true),
    tick: head.getFloat64(24, true),
    lanes: numbers,
    first,
    start,
    end,
    row,
    name,
    count,
    operator,
    slack,
    category: new Uint8Array(buffer, at, items),
    fill: new Uint8Array(buffer, at + items, items),
    bytes: buffer.byteLength,
  };
}

export function decodeCounters(buffer: ArrayBuffer): CounterTile {
  const head = opened(buffer, COUNTERS);
  const counters = head.getUint32(32, true);
  const bins = head.getUint32(36, true);
  expectSize(buffer, HEAD + 32 * counters * bins);
  const column = (at: number) => new Float64Array(buffer, HEAD + 8 * bins * at, bins);
  return {
    begin: head.getFloat64(16, true),
    bin: head.getFloat64(24, true),
    values: Array.from({ length: counters }, (_, i) => ({
      min: column(4 * i),
      max: column(4 * i + 1),
      last: column(4 * i + 2),
      mean: column(4 * i + 3),
    })),
    bytes: buffer.byteLength,
  };
}

/** The items of a lane in a tile: positions of the first and behind the last. */
export function itemsOf({ lanes, first }: Tile, lane: number): readonly [number, number] {
  let from = 0;
  let to = lanes.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((lanes[middle] ?? 0) < lane) from = middle + 1;
    else to = middle;
  }
  return lanes[from] === lane ? [first[from] ?? 0, first[from + 1] ?? 0] : [0, 0];
}

function opened(buffer: ArrayBuffer, ...kinds: number[]): DataView {
  if (buffer.byteLength < HEAD) throw new DecodeError(`${buffer.byteLength} bytes are no answer`);
  const view = new DataView(buffer);
  if (view.getUint32(0, true) !== MAGIC || !kinds.includes(view.getUint32(4, true)))
    throw new DecodeError("The answer does not begin as the protocol says");
  return view;
}

function expectSize(buffer: ArrayBuffer, size: number): void {
  if (buffer.byteLength !== size)
    throw new DecodeError(`The answer has ${buffer.byteLength} bytes and should have ${size}`);
}
