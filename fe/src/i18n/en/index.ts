import type { ServerMessages } from "../values";
import { capture } from "./capture";
import { charts } from "./charts";
import { compare } from "./compare";
import { distributed } from "./distributed";
import { flame } from "./flame";
import { kernels } from "./kernels";
import { memory } from "./memory";
import { modules } from "./modules";
import { operators } from "./operators";
import { overview } from "./overview";
import { shell } from "./shell";
import { stackedColumns } from "./stackedColumns";
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
  stackedColumns,
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
  serverMessages: { notes: {}, findings: {}, evidence: {}, reasons: {} } as ServerMessages,
  stacks,
  steps,
  table,
  timeline,
  trace,
};

export type Messages = typeof en;
