/** What the server says beyond the kind of a note or finding; see `docs/api.md`. */
export type Values = Readonly<Record<string, string | number | boolean>>;

/** What is written, and what is meant. */
export type Clauses = readonly (readonly [written: string, meant: string])[];

type By<T> = Readonly<Record<string, T>>;

/** What a rule says. */
export interface FindingWords {
  readonly title: string | ((values: Values) => string);
  readonly detail: (values: Values) => string;
  readonly advice: (values: Values) => string;
}

/** What the server says in English, in another language, by its keys. What is not here is shown as the server says it. */
export interface FirstMessages {
  /** By the kind of the reason why a file is not shown. */
  readonly reasons: By<(values: Values) => string>;
}

/** The same of what views show. */
export interface ServerMessages {
  /** Label and definition of a column, by its id. */
  readonly columns: By<readonly [label: string, help: string]>;
  /** By the word before an id. */
  readonly sides: By<(label: string, help: string) => readonly [label: string, help: string]>;
  /** By the kind of the note. */
  readonly notes: By<(values: Values) => string>;
  /** Of those that are not code alone, by the kind of the note; null where this one is code. */
  readonly remedies: By<(values: Values) => string | null>;
  /** By the id of the finding. */
  readonly findings: By<FindingWords>;
  /** What findings say for CUDA, as it is said for other devices, by platform. */
  readonly platforms: By<Clauses>;
  /** By the kind of the bound. */
  readonly bounds: By<(values: Values) => string>;
  /** Why there is no number, by the id of the refusal. */
  readonly refusals: By<(share: string) => string>;
  /** By the key of the evidence. */
  readonly evidence: By<(gpu: number | null) => string>;
  /** By the key of the link. */
  readonly links: By<string>;
  /** By the kind of the counter. */
  readonly counters: By<string>;
}
