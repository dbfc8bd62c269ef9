import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";
import { params } from "./params";

export const modules: View = {
  id: "modules",
  name: inLanguage({ en: "Module", "zh-CN": "模块" }),
  group: "program",
  key: "n",
  icon: "M2.5 2.5h5v3h-5zM8.5 7h5v3h-5zM8.5 11.5h5v2.5h-5zM4.5 5.5v7.2h4M4.5 8.5h4",
  mayLackData: true,
  params,
  load: () => import("./index"),
  inspector: { kind: "mod", load: () => import("./inspector") },
};

export const lightning: View = {
  id: "lightning",
  name: inLanguage({ en: "Lightning", "zh-CN": "Lightning" }),
  group: "program",
  key: "l",
  icon: "M9 1.8 4 9h3.5L7 14.2 12 7H8.5z",
  mayLackData: true,
  params,
  load: () => import("./lightning"),
};
