import { overview } from "./en/overview";

interface StepKind {
  readonly id: keyof typeof overview.kinds.names;
  readonly label: string | null;
  readonly number: number | null;
}

/** What a kind of steps is called. */
export function stepKindName({ id, label, number }: StepKind): string {
  const text = overview.kinds;
  const known = text.names[id];
  const name = label === null ? known : id === "other" ? label : text.labelled(label, known);
  return number === null ? name : text.numbered(name, number);
}
