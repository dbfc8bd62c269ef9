/**
 * Tiles: those that are here, on their way, and no longer wanted. Knows neither what a tile is nor where it comes from.
 *
 * Memory: what is wanted now is never dropped for something less urgent, so that no tile is fetched in every frame anew.
 * When the tiles in sight of all stores that share the memory reach the limit, the rest of them is left out and counted.
 */
import type { TileRoom } from "./room";

export interface Request {
  /** What it is kept under; equal for equal questions. */
  readonly key: string;
}

interface Options<R extends Request, T> {
  readonly load: (request: R, signal: AbortSignal) => Promise<T>;
  readonly weigh: (tile: T) => number;
  /** Its limit is exceeded by no more than the requests that were under way when it was reached. */
  readonly room: TileRoom<T>;
  /** Something has come, or cannot be had. */
  readonly onChange: () => void;
  /** Requests under way at the same time. */
  readonly most?: number;
}

const MOST = 4;
/** Before something that failed is asked for again. */
const AGAIN_MS = 4_000;

export class TileStore<R extends Request, T> {
  private readonly id: number;
  private readonly loading = new Map<string, AbortController>();
  private readonly failures = new Map<string, { readonly error: unknown; readonly at: number }>();
  /** Keys of what is wanted now: in sight, and around it. */
  private seen: ReadonlySet<string> = new Set();
  private ahead: ReadonlySet<string> = new Set();
  private queue: readonly R[] = [];
  /** In sight, but there is no room for them. */
  private omitted: readonly R[] = [];
  private closed = false;

  constructor(private readonly options: Options<R, T>) {
    const seen = () => this.seen;
    const ahead = () => this.ahead;
    this.id = options.room.join({
      get seen() {
        return seen();
      },
      get ahead() {
        return ahead();
      },
      onRoom: () => {
        if (this.omitted.length > 0) this.next();
      },
    });
  }

  get(key: string): T | undefined {
    return this.options.room.get(this.id, key);
  }

  /** How many of what is wanted are not here yet. */
  get missing(): number {
    return this.loading.size + this.queue.length;
  }

  /** How many of what is in sight are not asked for, because there is no room for them. */
  get leftOut(): number {
    return this.omitted.length;
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
    const missing = ({ key }: R) => !this.loading.has(key) && this.get(key) === undefined;
    this.queue = [
      ...seen.filter(missing),
      ...ahead.filter((request) => this.ahead.has(request.key) && missing(request)),
    ];
    this.omitted = [];
    const { room } = this.options;
    const hasMadeRoom = room.changed(this.id);
    this.next();
    if (hasMadeRoom) room.offer(this.id);
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
    this.omitted = [];
    this.options.room.leave(this.id);
  }

  private isWanted(key: string): boolean {
    return this.seen.has(key) || this.ahead.has(key);
  }

  private next(): void {
    const now = Date.now();
    const most = this.options.most ?? MOST;
    const { room } = this.options;
    const { seen, ahead } = room.held();
    const full = { seen, ahead: seen + ahead };
    const waiting: R[] = [];
    const omitted: R[] = [];
    for (const request of [...this.omitted, ...this.queue]) {
      const inSight = this.seen.has(request.key);
      // What is held for this picture stays until another one is wanted: until then waiting for room is in vain.
      if (full[inSight ? "seen" : "ahead"] >= room.limit) {
        if (inSight) omitted.push(request);
        continue;
      }
      const failed = this.failures.get(request.key);
      if (failed && now - failed.at < AGAIN_MS) continue;
      if (this.loading.size < most) void this.start(request);
      else waiting.push(request);
    }
    this.queue = waiting;
    this.omitted = omitted;
  }

  private async start(request: R): Promise<void> {
    const { load, onChange } = this.options;
    const controller = new AbortController();
    this.loading.set(request.key, controller);
    const mine = () => !this.closed && this.loading.get(request.key) === controller;
    try {
      const tile = await load(request, controller.signal);
      // Also when it is not wanted any more: it is here now.
      const { room, weigh } = this.options;
      if (!this.closed) room.keep(this.id, request.key, tile, weigh(tile));
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
