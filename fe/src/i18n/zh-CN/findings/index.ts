/** What rules say: a file for each group of them. */
import type { FindingWords, ServerMessages } from "../../values";

interface Group {
  readonly findings: Readonly<Record<string, FindingWords>>;
  readonly evidence: ServerMessages["evidence"];
  readonly links: ServerMessages["links"];
}

const GROUPS = Object.values(import.meta.glob<Group>(["./*.ts", "!./index.ts"], { eager: true }));

export const findings: ServerMessages["findings"] = Object.assign(
  {},
  ...GROUPS.map((each) => each.findings),
);
export const evidence: ServerMessages["evidence"] = Object.assign(
  {},
  ...GROUPS.map((each) => each.evidence),
);
export const links: ServerMessages["links"] = Object.assign(
  {},
  ...GROUPS.map((each) => each.links),
);
