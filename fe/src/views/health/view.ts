import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";

export const view: View = {
  id: "health",
  name: inLanguage({ en: "Trace health", "zh-CN": "跟踪健康" }),
  group: "capture",
  key: "c",
  icon: "M3.5 1.8h6l3 3v9.4h-9zM9.5 1.8v3h3M6 8h4M6 10.8h4",
  wholeFile: true,
  load: () => import("./index"),
};
