import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";
import { params } from "./params";

export const view: View = {
  id: "compare",
  name: inLanguage({ en: "Diff", "zh-CN": "对比" }),
  group: "compare",
  key: "v",
  icon: "M2.5 3h4.5v10H2.5zM9 3h4.5v10H9zM8 1.5v13",
  params,
  compares: true,
  load: () => import("./index"),
};
