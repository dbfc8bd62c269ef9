import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";

export const view: View = {
  id: "operators",
  name: inLanguage({ en: "Operator", "zh-CN": "算子" }),
  group: "time",
  key: "p",
  icon: "M2.5 4h11M2.5 8h7.5M2.5 12h4.5",
  load: () => import("./index"),
  inspector: { kind: "op", load: () => import("./inspector") },
};
