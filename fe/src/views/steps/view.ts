import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";
import { params } from "./params";

export const view: View = {
  id: "steps",
  name: inLanguage({ en: "Steps", "zh-CN": "迭代步" }),
  group: "summary",
  key: "s",
  digit: 2,
  icon: "M2.5 13.5v-5h3v5M6.5 13.5v-8h3v8M10.5 13.5v-11h3v11M1.5 13.5h13",
  params,
  load: () => import("./index"),
  inspector: { kind: "step", load: () => import("./inspector") },
};
