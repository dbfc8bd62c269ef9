import { inLanguage } from "../../i18n/current";
import type { View } from "../../state/views";

export const view: View = {
  id: "hang",
  name: inLanguage({ en: "Hang", "zh-CN": "挂起" }),
  group: "ranks",
  key: "a",
  icon: "M4 2h8M4 14h8M5 2c0 4 6 4 6 6s-6 2-6 6M11 2c0 4-6 4-6 6s6 2 6 6",
  wholeFile: true,
  onlyIfOffered: {
    title: inLanguage({ en: "No dumps", "zh-CN": "没有转储" }),
    reason: inLanguage({
      en: "The folder of this run has no flight-recorder dumps. torch writes them when a collective times out:",
      "zh-CN": "此运行的文件夹中没有飞行记录器的转储。集合通信超时时 torch 会写出转储：",
    }),
    remedy:
      "export TORCH_FR_BUFFER_SIZE=2000\nexport TORCH_NCCL_DUMP_ON_TIMEOUT=1\nexport TORCH_FR_DUMP_TEMP_FILE=LOGDIR/nccl_trace_rank_",
  },
  needsServer: true,
  load: () => import("./index"),
};
