import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";
import { params } from "./params";

export const view: View = {
  id: "snapshot",
  name: inLanguage({ en: "Memory snapshot", "zh-CN": "内存快照" }),
  group: "memory",
  key: "e",
  icon: "M2 13h12M4 11V4h4v7h4V7",
  mayLackData: true,
  params,
  load: () => import("./index"),
};
