/** Queries to begin with. */

interface Example {
  readonly id: "kernels" | "operators" | "gaps" | "late" | "steps" | "tables";
  /** `{schema}` stands for that of the trace. */
  readonly text: string;
}

export const EXAMPLES: readonly Example[] = [
  {
    id: "kernels",
    text: `SELECT short_name, kind, count(*) AS calls, sum(duration_ns) AS total_ns
FROM {schema}.kernels
GROUP BY ALL
ORDER BY total_ns DESC
LIMIT 20`,
  },
  {
    id: "operators",
    text: `SELECT name, count(self_ns) AS calls, sum(self_ns) AS host_self_ns, sum(device_self_ns) AS device_self_ns
FROM {schema}.operators
WHERE category = 'operator'
GROUP BY name
ORDER BY host_self_ns DESC
LIMIT 20`,
  },
  {
    id: "gaps",
    text: `SELECT step, cause, count(*) AS gaps, sum(duration_ns) AS total_ns
FROM {schema}.gaps
GROUP BY ALL
ORDER BY total_ns DESC
LIMIT 20`,
  },
  {
    id: "late",
    text: `SELECT k.short_name, l.operator, l.delay_ns, k.duration_ns, k.row
FROM {schema}.kernels k
JOIN {schema}.launches l ON l.row = k.launch_row
ORDER BY l.delay_ns DESC
LIMIT 20`,
  },
  { id: "steps", text: "SELECT * FROM {schema}.steps ORDER BY start_ns" },
  {
    id: "tables",
    text: "SELECT table_name, column_name, unit, meaning, missing FROM columns",
  },
];

export function exampleIn(example: Example, schema: string): string {
  return example.text.replaceAll("{schema}.", schema === "main" ? "" : `${schema}.`);
}
