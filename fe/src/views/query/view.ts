import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";
import { params } from "./params";

export const view: View = {
  id: "query",
  name: inLanguage({ en: "Query", "zh-CN": "查询" }),
  group: "capture",
  key: "q",
  icon: "M2.5 3.5h11v9h-11zM4.8 6l2.2 2-2.2 2M8.4 10h3",
  wholeFile: true,
  onlyIfOffered: true,
  needsServer: true,
  params,
  load: () => import("./index"),
};
