/** The kinds of tracks, by the names that tracks have for them. */
import type { Track } from "../track";
import { counter } from "./counter";
import { derived } from "./derived";
import { group } from "./group";
import type { TrackRenderer } from "./renderer";
import { slices } from "./slices";
import { snapshot } from "./snapshot";

export const KINDS: Readonly<Record<string, TrackRenderer>> = {
  group,
  slices,
  counter,
  derived,
  snapshot,
};

export function rendererOf({ kind }: Track): TrackRenderer {
  const found = KINDS[kind];
  if (!found) throw new Error(`No kind of track is called ${kind}`);
  return found;
}
