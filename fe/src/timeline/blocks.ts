import type { Track } from "./track";

/** Lanes are asked for in these blocks, always the same, so that answers can be kept. */
const BLOCK = 48;

/** Of each lane the block it is in: whole leaves, next to each other, of at most 48 lanes unless a single one has more. */
export function blocksOf(tracks: readonly Track[]): number[][] {
  const blocks: number[][] = [];
  let open: number[] | null = null;
  for (const { isGroup, lanes } of tracks) {
    // A block does not reach from one process into the next: they are often collapsed or hidden.
    if (isGroup) open = null;
    if (lanes.length === 0) continue;
    if (!open || open.length + lanes.length > BLOCK) {
      open = [];
      blocks.push(open);
    }
    open.push(...lanes);
  }
  for (const block of blocks) block.sort((a, b) => a - b);
  return blocks;
}
