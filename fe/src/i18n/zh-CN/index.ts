/** Simplified Chinese. Every text that English has, and no other: the types see to it. */
import type { Messages } from "../en";
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
import { server } from "./server";
import { serverMessages } from "./serverMessages";
import { shell } from "./shell";
import { stackedColumns } from "./stackedColumns";
import { stacks } from "./stacks";
import { steps } from "./steps";
import { table } from "./table";
import { timeline } from "./timeline";
import { trace } from "./trace";

export const zhCN: Messages = { lang: "zh-CN", ...shell, server, serverMessages };

export const zhCNAreas = {
  capture,
  charts,
  compare,
  distributed,
  flame,
  kernels,
  memory,
  modules,
  operators,
  overview,
  stackedColumns,
  stacks,
  steps,
  table,
  timeline,
  trace,
};
