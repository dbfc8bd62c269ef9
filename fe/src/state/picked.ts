/** The global selection, written as `op:aten::conv2d`, `kernel:volta_sgemm`, `mod:Net_0/Linear_1` or `step:5`. Pure. */
import type { Codec } from "./address";

export const PICKED_KINDS = ["op", "kernel", "mod", "step"] as const;
export type PickedKind = (typeof PICKED_KINDS)[number];

export interface Picked {
  kind: PickedKind;
  name: string;
}

export function parsePicked(text: string | null | undefined): Picked | null {
  const at = text?.indexOf(":") ?? -1;
  const kind = PICKED_KINDS.find((each) => each === text?.slice(0, at));
  const name = text?.slice(at + 1);
  return kind && name ? { kind, name } : null;
}

export function formatPicked(selected: Picked): string {
  return `${selected.kind}:${selected.name}`;
}

export const PICKED: Codec<Picked | null> = {
  parse: parsePicked,
  format: (picked) => (picked ? formatPicked(picked) : ""),
};
