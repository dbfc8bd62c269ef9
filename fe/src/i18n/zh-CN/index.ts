/** Simplified Chinese. Every text that English has, and no other: the types see to it. */
import type { Messages } from "..";
import { en } from "../en";
import { capture } from "./capture";
import { charts } from "./charts";
import { kernels } from "./kernels";
import { operators } from "./operators";
import { overview } from "./overview";
import { server } from "./server";
import { shell } from "./shell";
import { table } from "./table";

/** Areas that are not translated yet; their texts are shown in English. */
const { columns, compare, distributed, flame, memory, modules, stacks, steps, trace } = en;

export const zhCN: Messages = {
  lang: "zh-CN",
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
  server,
  stacks,
  steps,
  table,
  trace,
};
