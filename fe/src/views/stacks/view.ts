import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";
import { params } from "./params";

export const view: View = {
  id: "stacks",
  name: inLanguage({ en: "Stacks", "zh-CN": "调用栈" }),
  group: "time",
  key: "f",
  digit: 6,
  icon: "M2 12.5h12M3 9.5h10M4.5 6.5h6M6 3.5h3",
  mayLackData: true,
  params,
  load: () => import("./index"),
};
