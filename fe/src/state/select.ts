/** The global selection, written as `op:aten::conv2d`, `kernel:volta_sgemm`, `mod:Net_0/Linear_1` or `step:5`. Pure. */
export type SelectionKind = "op" | "kernel" | "mod" | "step";

export interface Selected {
  kind: SelectionKind;
  name: string;
}

export function parseSelected(text: string | null | undefined): Selected | null {
  const match = /^(op|kernel|mod|step):(.+)$/s.exec(text ?? "");
  return match ? { kind: match[1] as SelectionKind, name: match[2] as string } : null;
}

export function formatSelected(selected: Selected): string {
  return `${selected.kind}:${selected.name}`;
}
