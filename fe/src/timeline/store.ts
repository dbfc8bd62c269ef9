/** Tiles: those that are here, on their way, and no longer wanted. Knows neither what a tile is nor where it comes from. */
import { Lru } from "./lru";

export interface Request {
  /** What it is kept under; equal for equal questions. */
  readonly key: string;
}

interface Options<R extends Request, T> {
  readonly load: (request: R, signal: AbortSignal) => Promise<T>;
  readonly weigh: (tile: T) => number;
  /** In the unit of `weigh`. */
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
  private readonly tiles: Lru<T>;
  private readonly loading = new Map<string, AbortController>();
  private readonly failures = new Map<string, { readonly error: unknown; readonly at: number }>();
  private queue: readonly R[] = [];
  private closed = false;

  constructor(private readonly options: Options<R, T>) {
    this.tiles = new Lru(options.limit);
  }

  get(key: string): T | undefined {
    return this.tiles.get(key);
  }

  /** How many of what is wanted are not here yet. */
  get missing(): number {
    return this.loading.size + this.queue.length;
  }

  /** Why something that is wanted cannot be had, if so. */
  get failure(): unknown {
    for (const { error } of this.failures.values()) return error;
    return null;
  }

  /** All that is wanted now, the most urgent first; what is on its way and not among it is given up. */
  want(requests: readonly R[]): void {
    const wanted = new Set(requests.map(({ key }) => key));
    for (const [key, controller] of this.loading) {
      if (wanted.has(key)) continue;
      this.loading.delete(key);
      controller.abort();
    }
    for (const key of this.failures.keys()) if (!wanted.has(key)) this.failures.delete(key);
    this.queue = requests.filter(
      ({ key }) => !this.loading.has(key) && this.tiles.get(key) === undefined,
    );
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

  private next(): void {
    const now = Date.now();
    const most = this.options.most ?? MOST;
    const waiting: R[] = [];
    for (const request of this.queue) {
      const failed = this.failures.get(request.key);
      if (failed && now - failed.at < AGAIN_MS) continue;
      if (this.loading.size < most) void this.start(request);
      else waiting.push(request);
    }
    this.queue = waiting;
  }

  private async start(request: R): Promise<void> {
    const { load, weigh, onChange } = this.options;
    const controller = new AbortController();
    this.loading.set(request.key, controller);
    const mine = () => !this.closed && this.loading.get(request.key) === controller;
    try {
      const tile = await load(request, controller.signal);
      // Also when nobody waits for it any more: it is here now.
      if (!this.closed) this.tiles.set(request.key, tile, weigh(tile));
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
