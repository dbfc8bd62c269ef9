/**
 * Tiles: those that are here, on their way, and no longer wanted. Knows neither what a tile is nor where it comes from.
 *
 * Memory: what is wanted now is never dropped for something less urgent, so that no tile is fetched in every frame anew.
 * When the tiles in sight alone reach the limit, the rest of them is left out and counted.
 */
import { Lru } from "./lru";

export interface Request {
  /** What it is kept under; equal for equal questions. */
  readonly key: string;
}

interface Options<R extends Request, T> {
  readonly load: (request: R, signal: AbortSignal) => Promise<T>;
  readonly weigh: (tile: T) => number;
  /** In the unit of `weigh`; exceeded by no more than the requests that were under way when it was reached. */
  readonly limit: number;
  /** Something has come, or cannot be had. */
  readonly onChange: () => void;
  /** Requests under way at the same time. */
  readonly most?: number;
}

const MOST = 4;
/** Before something that failed is asked for again. */
const AGAIN_MS = 4_000;

export class TileStore<R extends Request, T> {
  private readonly tiles = new Lru<T>();
  private readonly loading = new Map<string, AbortController>();
  private readonly failures = new Map<string, { readonly error: unknown; readonly at: number }>();
  /** Keys of what is wanted now: in sight, and around it. */
  private seen: ReadonlySet<string> = new Set();
  private ahead: ReadonlySet<string> = new Set();
  private queue: readonly R[] = [];
  private omitted = 0;
  private closed = false;

  constructor(private readonly options: Options<R, T>) {}

  get(key: string): T | undefined {
    return this.tiles.get(key);
  }

  /** How many of what is wanted are not here yet. */
  get missing(): number {
    return this.loading.size + this.queue.length;
  }

  /** How many of what is in sight are not asked for, because there is no room for them. */
  get leftOut(): number {
    return this.omitted;
  }

  /** Why something that is wanted cannot be had, if so. */
  get failure(): unknown {
    for (const { error } of this.failures.values()) return error;
    return null;
  }

  /**
   * All that is wanted now: what is in sight, the most urgent first, and what may be in sight soon. What is on its way and
   * not among it is given up.
   */
  want(seen: readonly R[], ahead: readonly R[] = []): void {
    this.seen = new Set(seen.map(({ key }) => key));
    this.ahead = new Set(ahead.map(({ key }) => key).filter((key) => !this.seen.has(key)));
    for (const [key, controller] of this.loading) {
      if (this.isWanted(key)) continue;
      this.loading.delete(key);
      controller.abort();
    }
    for (const key of this.failures.keys()) if (!this.isWanted(key)) this.failures.delete(key);
    const missing = ({ key }: R) => !this.loading.has(key) && this.tiles.get(key) === undefined;
    this.queue = [
      ...seen.filter(missing),
      ...ahead.filter((request) => this.ahead.has(request.key) && missing(request)),
    ];
    this.omitted = 0;
    this.next();
  }

  /** Asks again for what has failed. */
  retry(): void {
    this.failures.clear();
    this.options.onChange();
  }

  close(): void {
    this.closed = true;
    for (const controller of this.loading.values()) controller.abort();
    this.loading.clear();
    this.queue = [];
  }

  private isWanted(key: string): boolean {
    return this.seen.has(key) || this.ahead.has(key);
  }

  private next(): void {
    const now = Date.now();
    const most = this.options.most ?? MOST;
    const held = this.weightOf(this.seen);
    const full = { seen: held, ahead: held + this.weightOf(this.ahead) };
    const waiting: R[] = [];
    for (const request of this.queue) {
      const inSight = this.seen.has(request.key);
      // What is held for this picture stays until another one is wanted: waiting for room would be in vain.
      if (full[inSight ? "seen" : "ahead"] >= this.options.limit) {
        if (inSight) this.omitted += 1;
        continue;
      }
      const failed = this.failures.get(request.key);
      if (failed && now - failed.at < AGAIN_MS) continue;
      if (this.loading.size < most) void this.start(request);
      else waiting.push(request);
    }
    this.queue = waiting;
  }

  private weightOf(keys: ReadonlySet<string>): number {
    let sum = 0;
    for (const key of keys) sum += this.tiles.weightOf(key);
    return sum;
  }

  private keep(key: string, tile: T): void {
    const { weigh, limit } = this.options;
    this.tiles.set(key, tile, weigh(tile));
    this.tiles.shrink(limit, (each) => this.isWanted(each));
    if (this.seen.has(key)) this.tiles.shrink(limit, (each) => this.seen.has(each));
  }

  private async start(request: R): Promise<void> {
    const { load, onChange } = this.options;
    const controller = new AbortController();
    this.loading.set(request.key, controller);
    const mine = () => !this.closed && this.loading.get(request.key) === controller;
    try {
      const tile = await load(request, controller.signal);
      // Also when nobody waits for it any more: it is here now.
      if (!this.closed) this.keep(request.key, tile);
      this.failures.delete(request.key);
    } catch (error) {
      if (!mine()) return;
      this.failures.set(request.key, { error, at: Date.now() });
    }
    if (this.closed) return;
    if (mine()) this.loading.delete(request.key);
    this.next();
    onChange();
  }
}
