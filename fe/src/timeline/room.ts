/** The memory that several stores of tiles share. */
import { Lru } from "./lru";
import { OneOfEach } from "./oneOfEach";

/** A store, as the others need to know it. Keys are its own. */
interface Tenant {
  /** In sight now. */
  readonly seen: ReadonlySet<string>;
  /** May be in sight soon. */
  readonly ahead: ReadonlySet<string>;
  /** There may be room for what was left out. */
  readonly onRoom: () => void;
}

interface Held {
  readonly seen: number;
  readonly ahead: number;
}

/** `limit`: in the unit in which tiles are weighed. */
export class TileRoom<T> {
  private readonly tiles = new Lru<T>();
  private readonly tenants = new Map<number, Tenant>();
  /** Every frame asks for it, so it is summed anew only when it has changed. */
  private readonly known = new Map<number, Held>();
  private last = 0;

  constructor(readonly limit: number) {}

  /** Weight of all tiles that are here. */
  get weight(): number {
    return this.tiles.weight;
  }

  /** A number for the other methods. */
  join(tenant: Tenant): number {
    this.last += 1;
    this.tenants.set(this.last, tenant);
    return this.last;
  }

  /** Drops the tiles of a store. */
  leave(id: number): void {
    this.tenants.delete(id);
    this.known.delete(id);
    this.tiles.shrink(-1, (key) => ownerOf(key) !== id);
    this.offer(id);
  }

  get(id: number, key: string): T | undefined {
    return this.tiles.get(nameOf(id, key));
  }

  keep(id: number, key: string, tile: T, weight: number): void {
    const name = nameOf(id, key);
    const isIn = (which: "seen" | "ahead") => (each: string) =>
      this.tenants.get(ownerOf(each))?.[which].has(keyOf(each)) ?? false;
    const [isSeen, isAhead] = [isIn("seen"), isIn("ahead")];
    this.known.clear();
    this.tiles.set(name, tile, weight);
    this.tiles.shrink(this.limit, (each) => isSeen(each) || isAhead(each));
    if (isSeen(name)) this.tiles.shrink(this.limit, isSeen);
  }

  /** Weight of the tiles that all stores want now. */
  held(): Held {
    const all = { seen: 0, ahead: 0 };
    for (const id of this.tenants.keys()) {
      const { seen, ahead } = this.heldBy(id);
      all.seen += seen;
      all.ahead += ahead;
    }
    return all;
  }

  /** To be said when a store wants something else. Returns whether what it has in sight weighs less than before. */
  changed(id: number): boolean {
    const before = this.known.get(id)?.seen ?? 0;
    this.known.delete(id);
    return this.heldBy(id).seen < before;
  }

  private heldBy(id: number): Held {
    const known = this.known.get(id);
    if (known) return known;
    const sum = (keys: Iterable<string> = []) => {
      let weight = 0;
      for (const key of keys) weight += this.tiles.weightOf(nameOf(id, key));
      return weight;
    };
    const tenant = this.tenants.get(id);
    const held = { seen: sum(tenant?.seen), ahead: sum(tenant?.ahead) };
    this.known.set(id, held);
    return held;
  }

  /** Lets the other stores ask for what they left out. */
  offer(from: number): void {
    for (const [id, { onRoom }] of this.tenants) if (id !== from) onRoom();
  }
}

/** Where the tiles of the ranks of a page are kept: a room for each sort of tiles. */
export class TimelineMemory extends OneOfEach<null, TileRoom<unknown>> {
  constructor() {
    super(null);
  }
}

function nameOf(id: number, key: string): string {
  return `${id}:${key}`;
}

function ownerOf(name: string): number {
  return Number.parseInt(name, 10);
}

function keyOf(name: string): string {
  return name.slice(name.indexOf(":") + 1);
}
