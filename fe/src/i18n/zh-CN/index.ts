/** Simplified Chinese. Every text that English has, and no other: the types see to it. */
import type { Messages } from "../en";
import { server } from "./server";
import { serverMessages } from "./serverMessages";
import { shell } from "./shell";

export const zhCN: Messages = { lang: "zh-CN", ...shell, server, serverMessages };

const FILES = import.meta.glob<Record<string, unknown>>(
  ["./*.ts", "!./index.ts", "!./server*.ts", "!./shell.ts"],
  { eager: true },
);

/** Each file beside this one is an area, under the name that it exports. */
export const zhCNAreas: Readonly<Record<string, unknown>> = Object.assign(
  {},
  ...Object.values(FILES),
);
