import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";
import { params } from "./params";

export const view: View = {
  id: "distributed",
  name: inLanguage({ en: "Distributed", "zh-CN": "分布式" }),
  group: "ranks",
  key: "d",
  icon: "M6 2.2h4v3H6zM2 10.8h4v3H2zM10 10.8h4v3h-4zM8 5.2v2.8M4 10.8V8h8v2.8",
  mayLackData: true,
  params,
  load: () => import("./index"),
};
