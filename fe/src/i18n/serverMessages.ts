/** What the server says, in the language of the page: by its key, else in the server's own words. Names in it are `apart`. */
import { apart } from "./apart";
import { t } from "./current";
import { serverMessages } from "./translation";
import type { Values } from "./values";

export type { Values } from "./values";

interface NoteWords {
  readonly kind: string;
  readonly text: string;
  readonly values?: Values;
}

interface ColumnWords {
  readonly id?: string;
  readonly label: string;
  readonly help?: string | null;
}

/** Label and definition of a column; those that it has where its id is not known. */
export function columnWords({ id = "", label, help }: ColumnWords): {
  label: string;
  help?: string;
} {
  const said = wordsOf(id, label);
  return { label: said?.[0] ?? label, ...(help ? { help: said?.[1] ?? help } : {}) };
}

/** `operators.calls`, or `baseline operators.calls`; `help operators.calls` has a label of its own. */
function wordsOf(id: string, label: string): readonly [label: string, help: string] | undefined {
  const [side, of] = id.includes(" ") ? id.split(" ", 2) : [null, id];
  const words = serverMessages()?.columns[of ?? ""];
  if (!words || side === null || side === undefined) return words;
  return side === "help" ? [label, words[1]] : serverMessages()?.sides[side]?.(...words);
}

/** What a number of the overview means: `definitions` are those of the answer, by its key. */
export function definitionText(definitions: Readonly<Record<string, string>>, key: string): string {
  return serverMessages()?.columns[`overview.${key}`]?.[1] ?? definitions[key] ?? "";
}

export function noteText({ kind, text, values = {} }: NoteWords): string {
  const say = (key: string, said: Values) => serverMessages()?.words("notes", kind, key, said);
  const parts = numbered(values).map((each) => say("each", each) ?? "");
  const more: Values = { parts: parts.join(say("between", {})), ...quoted("why", values) };
  return apart(say("text", { ...values, ...more }) ?? text);
}

/** The values of each of several things that a note lists: their names end in its number. */
function numbered(values: Values): Values[] {
  const found: Record<string, Values[string]>[] = [];
  for (const [name, value] of Object.entries(values)) {
    const [, key = "", number] = /^(\w+)_([1-9])$/.exec(name) ?? [];
    if (number) found[Number(number) - 1] = { ...found[Number(number) - 1], [key]: value };
  }
  return found;
}

/** The value in which a note or a reason quotes a reason. */
function quoted(name: "why" | "said", { why_kind: kind = "", ...values }: Values): Values {
  const said = t.serverMessages.reason(String(kind), values);
  return said === undefined ? {} : { [name]: said };
}

export function remedyText({
  kind,
  remedy,
  values = {},
}: Omit<NoteWords, "text"> & { readonly remedy: string }): string {
  return serverMessages()?.words("notes", kind, "remedy", values) ?? remedy;
}

/** Why a file could not be read, or is no trace. */
export function reasonText(
  reason: string,
  why: { readonly kind: string; readonly values: Values } | null,
): string {
  const { kind = "", values = {} } = why ?? {};
  return apart(t.serverMessages.reason(kind, { ...values, ...quoted("said", values) }) ?? reason);
}

/** What bounds a run. */
export function boundText({
  kind,
  sentence,
  values = {},
}: {
  readonly kind: string;
  readonly sentence: string;
  readonly values?: Values;
}): string {
  return apart(serverMessages()?.words("bounds", kind, "sentence", values) ?? sentence);
}

interface FindingText {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  readonly advice: string;
  readonly values?: Values;
}

export function findingTitle({
  id,
  title,
  values = {},
}: Pick<FindingText, "id" | "title" | "values">): string {
  return ofRule(id, "title", values) ?? apart(title);
}

export function findingDetail({ id, detail, values = {} }: FindingText): string {
  return ofRule(id, "detail", values) ?? apart(detail);
}

export function findingAdvice({ id, advice, values = {} }: FindingText): string {
  return ofRule(id, "advice", values) ?? apart(advice);
}

function ofRule(
  id: string,
  key: "title" | "detail" | "advice",
  values: Values,
): string | undefined {
  const said = serverMessages()?.words("rules", id, key, values);
  return said === undefined ? undefined : apart(onPlatform(said, values));
}

/** What was written for CUDA, as it is said for the devices of the trace. */
function onPlatform(text: string, { platform = "", renamed = "" }: Values): string {
  const clauses = serverMessages()?.platforms[String(platform)] ?? [];
  const names = String(renamed)
    .split("\n")
    .map((line) => line.split("\t"));
  return [...clauses, ...names].reduce(
    (said, [written, meant]) => (written ? said.replaceAll(written, meant ?? "") : said),
    text,
  );
}

/** Why memory ran out, or what a snapshot holds. struct: what it is about; more: what is not in its fields. */
export function memoryText(
  name: string,
  text: string | undefined,
  struct: object | undefined,
  more: Values = {},
): string {
  const values = { ...valuesOf(struct ?? {}), ...more };
  return apart(serverMessages()?.words("memory", name, "text", values) ?? text ?? "");
}

/** The fields of a struct that are not null; those of a struct in it, and of the first of several, as `growth_steps`. */
function valuesOf(struct: object): Values {
  const values = Object.entries(struct).flatMap(([name, value]) => {
    const one = Array.isArray(value) ? value[0] : value;
    if (typeof one !== "object") return one === undefined ? [] : [[name, one]];
    return Object.entries(valuesOf(one ?? {})).map(([key, inner]) => [`${name}_${key}`, inner]);
  });
  return Object.fromEntries(values);
}

/** Why there is no number. share: the measure that decided, 0…1. */
export function refusedText(why: {
  id: string | null;
  text: string | null;
  share: number | null;
}): string {
  const measure: Values = why.share === null ? {} : { share: why.share };
  return serverMessages()?.words("refusals", "texts", why.id ?? "", measure) ?? why.text ?? "";
}

export function evidenceLabel(evidence: {
  key?: string;
  label: string;
  gpu?: number | null;
}): string {
  return (
    serverMessages()?.words("evidence", "labels", evidence.key ?? "", {
      gpu: evidence.gpu ?? "",
    }) ?? evidence.label
  );
}

export function linkText({ key, text }: { key: string; text: string }): string {
  return serverMessages()?.words("links", "titles", key, {}) ?? text;
}

export function counterName({ kind, name }: { kind: string; name: string }): string {
  return serverMessages()?.counters[kind] ?? name;
}

/** Ranks as the server lists them. */
const RANKS = /^[\d–, ]+ and \d+$/;

/** A sentence about a job that hangs; one that quotes the evidence for its ranks has the values of that, too. */
export function hangText(
  section: "sentence" | "evidence",
  { key, text, values: given }: { key: string; text: string; values: Values },
): string {
  const plain = (value: Values[string]) =>
    RANKS.test(String(value)) ? String(value).replace(" and ", ", ") : value;
  const values = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, plain(value)]),
  );
  const say = (name: string, said: Values) => serverMessages()?.words("hangs", name, key, said);
  const evidence = say("evidence", values);
  return apart(say(section, evidence === undefined ? values : { ...values, evidence }) ?? text);
}
