import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";
import { params } from "./params";

export const view: View = {
  id: "program",
  name: inLanguage({ en: "Program", "zh-CN": "程序" }),
  group: "program",
  key: "r",
  icon: "M2.5 3.5h7M2.5 8h11M2.5 12.5h5",
  params,
  load: () => import("./index"),
};
