import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";
import { params } from "./params";

export const view: View = {
  id: "overview",
  name: inLanguage({ en: "Overview", "zh-CN": "概览" }),
  group: "summary",
  key: "o",
  digit: 1,
  icon: "M2 13.5h12M4 11V8M8 11V3.5M12 11V6",
  params,
  compares: true,
  load: () => import("./index"),
};
