/** The data of a kind of track, for one rank. */
import type { TimeWindow } from "../draw";
import type { Look } from "./look";
import type { TrackRow } from "./track";

/** What is on its way, and how that goes. */
export interface Loading {
  /** How many tiles the picture still waits for. */
  readonly missing: number;
  /** How many tiles of the picture are not asked for, because they would need too much memory. */
  readonly leftOut: number;
  /** Why something that is wanted cannot be had; null otherwise. */
  readonly failure: unknown;
  /** Asks again for what has failed. */
  retry(): void;
  /** Gives up what is on its way, and drops what is here. */
  close(): void;
}

export interface TrackSource extends Loading {
  /** Asks for what is in sight, and gives up what no longer is. Called before every frame. */
  want(sight: Sight): void;
}

export interface Sight {
  /** Rows of tracks that show this data, in sight or close to it; without any, nothing is wanted. */
  readonly rows: readonly TrackRow[];
  /** The level of detail, as a place among those of the rank. */
  readonly level: number;
  /** ns of the rank. */
  readonly window: TimeWindow;
  readonly look: Look;
}

/** Several of these as one. */
export abstract class Together implements Loading {
  protected abstract readonly stores: Iterable<Loading>;

  get missing(): number {
    return [...this.stores].reduce((sum, { missing }) => sum + missing, 0);
  }

  get leftOut(): number {
    return [...this.stores].reduce((sum, { leftOut }) => sum + leftOut, 0);
  }

  get failure(): unknown {
    for (const { failure } of this.stores) if (failure !== null) return failure;
    return null;
  }

  retry(): void {
    for (const store of this.stores) store.retry();
  }

  close(): void {
    for (const store of this.stores) store.close();
  }
}
