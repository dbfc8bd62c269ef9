import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";
import { params } from "./params";

export const view: View = {
  id: "criticalpath",
  name: inLanguage({ en: "Critical path", "zh-CN": "关键路径" }),
  group: "time",
  key: "w",
  digit: 7,
  icon: "M1.5 4h3.5v3h6v5h3.5M9 4h5.5M1.5 12h5.5",
  params,
  load: () => import("./index"),
};
