/** What the server says beyond the kind of a note or finding; see `docs/api.md`. */
export type Values = Readonly<Record<string, string | number | boolean>>;

/** What is written, and what is meant. */
export type Clauses = readonly (readonly [written: string, meant: string])[];

type By<T> = Readonly<Record<string, T>>;

/** What the server says in English, in another language, by its keys. What is not here is shown as the server says it. */
export interface FirstMessages {
  /** Why a file is not shown, by the kind of the reason; undefined where it cannot be said. */
  readonly reason: (kind: string, values: Values) => string | undefined;
}

/** The same of what views show. */
export interface ServerMessages {
  /** Label and definition of a column, by its id. */
  readonly columns: By<readonly [label: string, help: string]>;
  /** A sentence of `torch_tb_profiler/words`, by its area, section and key; undefined where it cannot be said. */
  readonly words: (
    area: "rules" | "bounds" | "evidence" | "hangs" | "links" | "memory" | "notes" | "refusals",
    name: string,
    key: string,
    values: Values,
  ) => string | undefined;
  /** By the word before an id. */
  readonly sides: By<(label: string, help: string) => readonly [label: string, help: string]>;
  /** What findings say for CUDA, as it is said for other devices, by platform. */
  readonly platforms: By<Clauses>;
  /** By the kind of the counter. */
  readonly counters: By<string>;
}
