import { t } from ".";

/** What the server says beyond the kind of a note or finding; see `docs/api.md`. */
export type Values = Readonly<Record<string, string | number | boolean>>;

/** What the server says in English, in another language. What is not here is shown as the server says it. */
export interface Said {
  /** By the kind of the note. */
  readonly notes: Readonly<Record<string, (values: Values) => string>>;
  /** By the kind of the reason why a file is not shown. */
  readonly reasons: Readonly<Record<string, (values: Values) => string>>;
  /** By the id of the finding. */
  readonly findings: Readonly<
    Record<string, { readonly title: string; readonly detail: (values: Values) => string }>
  >;
  /** By the key of the evidence. */
  readonly evidence: Readonly<Record<string, (gpu: number | null) => string>>;
}

/** A text of the server that is always the same, such as the label of a column. */
export function serverText(text: string): string {
  return t.server[text] ?? text;
}

export function noteText(note: { kind: string; text: string; values?: Values }): string {
  return t.said.notes[note.kind]?.(note.values ?? {}) ?? note.text;
}

/** Why a file could not be read, or is no trace. */
export function reasonText(
  reason: string,
  why?: { readonly kind: string; readonly values: Values } | null,
): string {
  return t.said.reasons[why?.kind ?? ""]?.(why?.values ?? {}) ?? reason;
}

export function findingTitle(finding: { id: string; title: string }): string {
  return t.said.findings[finding.id]?.title ?? finding.title;
}

export function findingDetail(finding: { id: string; detail: string; values?: Values }): string {
  return t.said.findings[finding.id]?.detail(finding.values ?? {}) ?? finding.detail;
}

export function evidenceLabel(evidence: {
  key?: string;
  label: string;
  gpu?: number | null;
}): string {
  return t.said.evidence[evidence.key ?? ""]?.(evidence.gpu ?? null) ?? evidence.label;
}
