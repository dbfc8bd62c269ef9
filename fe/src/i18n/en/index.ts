import { capture } from "./capture";
import { charts } from "./charts";
import { kernels } from "./kernels";
import { operators } from "./operators";
import { overview } from "./overview";
import { shell } from "./shell";
import { table } from "./table";

export const en = { lang: "en", ...shell, capture, charts, kernels, operators, overview, table };
