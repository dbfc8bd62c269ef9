const identities = new WeakMap<object, number>();
let nextIdentity = 0;

/** A key for a grid: row numbers mean something else in other data, so what the grid remembers by them must go. */
export function identityOf(rows: object): number {
  let found = identities.get(rows);
  if (found === undefined) {
    found = nextIdentity++;
    identities.set(rows, found);
  }
  return found;
}
