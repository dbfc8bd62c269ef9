import { t } from "./current";
import type { Values } from "./values";

export type { Values } from "./values";

/** A text of the server that is always the same, such as the label of a column. */
export function serverText(text: string): string {
  return t.server[text] ?? text;
}

export function noteText(note: { kind: string; text: string; values?: Values }): string {
  return t.serverMessages.notes[note.kind]?.(note.values ?? {}) ?? note.text;
}

/** Why a file could not be read, or is no trace. */
export function reasonText(
  reason: string,
  why: { readonly kind: string; readonly values: Values } | null,
): string {
  return t.serverMessages.reasons[why?.kind ?? ""]?.(why?.values ?? {}) ?? reason;
}

export function findingTitle(finding: { id: string; title: string }): string {
  return t.serverMessages.findings[finding.id]?.title ?? finding.title;
}

export function findingDetail(finding: { id: string; detail: string; values?: Values }): string {
  return t.serverMessages.findings[finding.id]?.detail(finding.values ?? {}) ?? finding.detail;
}

export function evidenceLabel(evidence: {
  key?: string;
  label: string;
  gpu?: number | null;
}): string {
  return t.serverMessages.evidence[evidence.key ?? ""]?.(evidence.gpu ?? null) ?? evidence.label;
}

/** What a number of an answer means: `definitions` are those of the answer, by its key. */
export function definitionText(definitions: Readonly<Record<string, string>>, key: string): string {
  return serverText(definitions[key] ?? "");
}
