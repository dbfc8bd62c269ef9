/** What the server says beyond the kind of a note or finding; see `docs/api.md`. */
export type Values = Readonly<Record<string, string | number | boolean>>;

/** What the server says in English, in another language. What is not here is shown as the server says it. */
export interface ServerMessages {
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
