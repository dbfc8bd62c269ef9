/** The views there are, in the order of the rail. */
import type { ComponentType } from "react";
import { type PickedKind, setViews, type View } from "../state";
import { later } from "../ui";
import { view as compare } from "./compare/view";
import { view as criticalpath } from "./criticalpath/view";
import { view as distributed } from "./distributed/view";
import { view as hang } from "./hang/view";
import { view as health } from "./health/view";
import { view as kernels } from "./kernels/view";
import { view as memory } from "./memory/view";
import { lightning, modules } from "./modules/view";
import { view as operators } from "./operators/view";
import { view as overview } from "./overview/view";
import { view as program } from "./program/view";
import { view as query } from "./query/view";
import { view as roofline } from "./roofline/view";
import { view as snapshot } from "./snapshot/view";
import { view as stacks } from "./stacks/view";
import { view as steps } from "./steps/view";
import { view as trace } from "./trace/view";

export const VIEWS: readonly View[] = [
  overview,
  steps,
  operators,
  kernels,
  trace,
  stacks,
  criticalpath,
  roofline,
  memory,
  snapshot,
  distributed,
  hang,
  program,
  modules,
  lightning,
  compare,
  health,
  query,
];

setViews(VIEWS);

/** So that whoever goes to a view can ask only for what it has. */
declare module "../state/views" {
  interface ViewParams {
    overview: typeof import("./overview/params").params;
    steps: typeof import("./steps/params").params;
    operators: typeof import("./operators/params").params;
    kernels: typeof import("./kernels/params").params;
    trace: typeof import("./trace/params").params;
    stacks: typeof import("./stacks/params").params;
    criticalpath: typeof import("./criticalpath/params").params;
    roofline: typeof import("./roofline/params").params;
    memory: typeof import("./memory/params").params;
    snapshot: typeof import("./snapshot/params").params;
    distributed: typeof import("./distributed/params").params;
    program: typeof import("./program/params").params;
    modules: typeof import("./modules/params").params;
    compare: typeof import("./compare/params").params;
    query: typeof import("./query/params").params;
    lightning: ViewParams["modules"];
  }
}

/** What shows each view, by its id. All loaded when first needed. */
export const COMPONENTS: Readonly<Record<string, ComponentType<object>>> = Object.fromEntries(
  VIEWS.map(({ id, load }) => [id, later(load)]),
);

/** What describes a picked thing, by its kind. */
export const INSPECTORS: Readonly<Partial<Record<PickedKind, ComponentType<{ name: string }>>>> =
  Object.fromEntries(
    VIEWS.flatMap(({ inspector }) => (inspector ? [[inspector.kind, later(inspector.load)]] : [])),
  );
