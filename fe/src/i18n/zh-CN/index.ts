/** Simplified Chinese: what every page needs. Every text that English has, and no other: the types see to it. */
import type { Messages } from "../en";
import { reason } from "./server/reasons";
import { shell } from "./shell";

export const zhCN: Messages = { lang: "zh-CN", ...shell, serverMessages: { reason } };
