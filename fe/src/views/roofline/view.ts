import type { View } from "../../state/views";
import { params } from "./params";

export const view: View = {
  id: "roofline",
  name: "Roofline",
  group: "efficiency",
  key: "h",
  digit: 8,
  icon: "M2 13.5 8 5h6M5 12h.1M8 9.5h.1M11.5 8h.1",
  params,
  load: () => import("./index"),
};
