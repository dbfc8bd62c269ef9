/** Rows that lie inside each other. Parents stand before their children. Pure. */

interface Children {
  /** The children of row i stand in `rows` from first[i + 1] to first[i + 2]; those at the top from first[0] to first[1]. */
  readonly first: Int32Array;
  readonly rows: Int32Array;
}

/** `order`: all rows in the order that siblings shall have; as they come when it is left out. */
export function childrenOf(parent: ArrayLike<number>, order?: ArrayLike<number>): Children {
  const size = parent.length;
  const first = new Int32Array(size + 2);
  for (let i = 0; i < size; i++) bump(first, above(parent, i) + 2);
  for (let i = 1; i < size + 2; i++) first[i] = get(first, i) + get(first, i - 1);
  const next = first.slice();
  const rows = new Int32Array(size);
  for (let k = 0; k < size; k++) {
    const row = order ? (order[k] ?? 0) : k;
    const slot = above(parent, row) + 1;
    rows[get(next, slot)] = row;
    bump(next, slot);
  }
  return { first, rows };
}

export function countChildren({ first }: Children, row: number): number {
  return get(first, row + 2) - get(first, row + 1);
}

/** How many rows are around each. */
export function levelsOf(parent: ArrayLike<number>): Int32Array {
  const level = new Int32Array(parent.length);
  for (let i = 0; i < parent.length; i++) {
    const outer = above(parent, i);
    level[i] = outer < 0 ? 0 : get(level, outer) + 1;
  }
  return level;
}

/** 1 for the rows that match and for all around them. */
export function withParents(parent: ArrayLike<number>, matches: Uint8Array): Uint8Array {
  const kept = matches.slice();
  for (let i = parent.length - 1; i >= 0; i--) {
    const outer = above(parent, i);
    if (kept[i] && outer >= 0) kept[outer] = 1;
  }
  return kept;
}

/** From the outermost row in to the one around `row`. */
export function around(parent: ArrayLike<number>, row: number): number[] {
  const found: number[] = [];
  for (let i = above(parent, row); i >= 0; i = above(parent, i)) found.push(i);
  return found.reverse();
}

/** The rows to draw, from the top down. `kept`: only those with a 1. */
export function visibleRows(
  children: Children,
  isOpen: (row: number) => boolean,
  kept: Uint8Array | null,
): number[] {
  const { first, rows } = children;
  const found: number[] = [];
  const waiting: number[] = [];
  const push = (slot: number) => {
    for (let k = get(first, slot + 1) - 1; k >= get(first, slot); k--) waiting.push(get(rows, k));
  };
  push(0);
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    if (kept && !kept[row]) continue;
    found.push(row);
    if (get(first, row + 2) > get(first, row + 1) && isOpen(row)) push(row + 1);
  }
  return found;
}

function above(parent: ArrayLike<number>, row: number): number {
  return parent[row] ?? -1;
}

function get(values: Int32Array, index: number): number {
  return values[index] as number;
}

function bump(values: Int32Array, index: number): void {
  values[index] = get(values, index) + 1;
}
