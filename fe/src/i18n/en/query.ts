import { counted } from "../counted";
import { area } from "../translation";

/** SQL over a trace. */
export const query = area("query", {
  title: "Query",
  help: "One SELECT in the SQL of DuckDB, over the tables below. It only reads them: it has no access to files, network or settings, and runs in a separate process with limits of time and memory. The query is part of the address of this page.",
  of: { label: "Query over", trace: "This trace", span: "All ranks" },
  examples: "Examples:",
  exampleNames: {
    kernels: "largest kernels",
    operators: "operators by own time",
    gaps: "idle time by step and cause",
    late: "kernels that waited longest",
    steps: "steps",
    tables: "all columns",
  },
  field: "Query in SQL",
  run: "Run (Ctrl+Enter)",
  limits: (rows: string, seconds: string) =>
    `At most ${seconds} s; the first ${rows} rows are shown.`,
  result: "Result of the query",
  found: (rows: string, took: string, prepared: string) =>
    `${counted(rows, "row")} in ${took}; preparing the tables took ${prepared}.`,
  more: {
    rows: "There are more rows: these are the first. Use LIMIT and WHERE to choose others.",
    bytes: "There are more rows, but the answer has reached its size limit: select fewer columns.",
  },
  columns: {
    title: "Tables",
    help: "What queries can use. Times are nanoseconds since the start of the trace; `row` is the number of an event in its file and joins all tables. Unknown values are NULL. Functions besides those of DuckDB: ms(ns), overlap_ns(a0, a1, b0, b1), short(name), in_steps(start_ns, end_ns).",
    schemas: (names: string) =>
      `Each rank has its tables in a schema of its own: ${names}. all_kernels, all_steps and so on have those of all ranks, with run, worker and span.`,
    heads: ["Column", "Unit", "Meaning", "When it is NULL"],
  },
});
