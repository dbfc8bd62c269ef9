/** The global selection, written as `op:aten::conv2d`, `kernel:volta_sgemm`, `mod:Net_0/Linear_1` or `step:5`. Pure. */
export const SELECTION_KINDS = ["op", "kernel", "mod", "step"] as const;
export type SelectionKind = (typeof SELECTION_KINDS)[number];

export interface Selected {
  kind: SelectionKind;
  name: string;
}

export function parseSelected(text: string | null | undefined): Selected | null {
  const at = text?.indexOf(":") ?? -1;
  const kind = SELECTION_KINDS.find((each) => each === text?.slice(0, at));
  const name = text?.slice(at + 1);
  return kind && name ? { kind, name } : null;
}

export function formatSelected(selected: Selected): string {
  return `${selected.kind}:${selected.name}`;
}
