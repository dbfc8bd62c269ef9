/** Reasons in Chinese, apart from the other sentences: every page needs them. */
import reasons from "../../../../../torch_tb_profiler/words/zh-CN/reasons.toml";
import type { FirstMessages } from "../../values";
import { say } from "./say";

export const reason: FirstMessages["reason"] = (kind, values) =>
  say(reasons.texts, reasons.shared, kind, values);
