/** Simplified Chinese: what views need, all at once. */
import type { Translation } from "../translation";
import { serverMessages } from "./serverMessages";

const FILES = import.meta.glob<Record<string, unknown>>(
  ["./*.ts", "!./index.ts", "!./views.ts", "!./server*.ts", "!./shell.ts", "!./numbers.ts"],
  { eager: true },
);

export const views: Translation = {
  /** Each file beside this one is an area, under the name that it exports. */
  areas: Object.assign({}, ...Object.values(FILES)),
  serverMessages,
};
