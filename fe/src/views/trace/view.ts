import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";
import { params } from "./params";

export const view: View = {
  id: "trace",
  name: inLanguage({ en: "Trace", "zh-CN": "跟踪" }),
  group: "time",
  key: "t",
  digit: 5,
  icon: "M2 3.5h7M5 6.5h8M3 9.5h4M9 9.5h5M6 12.5h6",
  needsServer: true,
  hasHead: true,
  params,
  load: () => import("./index"),
};
