import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";

export const view: View = {
  id: "kernels",
  name: inLanguage({ en: "GPU Kernel", "zh-CN": "GPU 内核" }),
  group: "time",
  key: "k",
  icon: "M4.5 4.5h7v7h-7zM6.5 2v2.5M9.5 2v2.5M6.5 11.5V14M9.5 11.5V14M2 6.5h2.5M2 9.5h2.5M11.5 6.5H14M11.5 9.5H14",
  mayLackData: true,
  load: () => import("./index"),
  inspector: { kind: "kernel", load: () => import("./inspector") },
};
