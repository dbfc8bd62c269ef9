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
  onlyIfOffered: {
    title: inLanguage({ en: "Query is off", "zh-CN": "查询未启用" }),
    reason: inLanguage({
      en: "The server of this page was started without --sql. In TensorBoard there is no Query: start a server beside it.",
      "zh-CN": "此页面的服务器启动时未加 --sql。TensorBoard 中没有查询视图：请另行启动服务器。",
    }),
    remedy: "pip install 'torch-tb-profiler[sql]'\ntorch-tb-profiler serve --sql LOGDIR",
  },
  needsServer: true,
  params,
  load: () => import("./index"),
};
