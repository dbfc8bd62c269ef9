import type { Said } from "../said";
import { capture } from "./capture";
import { charts } from "./charts";
import { columns } from "./columns";
import { compare } from "./compare";
import { distributed } from "./distributed";
import { flame } from "./flame";
import { kernels } from "./kernels";
import { memory } from "./memory";
import { modules } from "./modules";
import { operators } from "./operators";
import { overview } from "./overview";
import { shell } from "./shell";
import { stacks } from "./stacks";
import { steps } from "./steps";
import { table } from "./table";
import { timeline } from "./timeline";
import { trace } from "./trace";

export const en = {
  lang: "en",
  ...shell,
  capture,
  charts,
  columns,
  compare,
  distributed,
  flame,
  kernels,
  memory,
  modules,
  operators,
  overview,
  /** What the server says, by its own words; those that are not here are shown as they are. */
  server: {} as Record<string, string>,
  /** Notes and findings: the server's own words. */
  said: { notes: {}, findings: {}, evidence: {}, reasons: {} } as Said,
  stacks,
  steps,
  table,
  timeline,
  trace,
};
