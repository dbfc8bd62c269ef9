import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";
import { params } from "./params";

export const view: View = {
  id: "memory",
  name: inLanguage({ en: "Memory", "zh-CN": "内存" }),
  group: "memory",
  key: "m",
  digit: 9,
  icon: "M2 13.5h12M2.5 11c2 0 2-5 4-5s2 3 3.5 3S12 3 13.5 3",
  mayLackData: true,
  params,
  load: () => import("./index"),
};
