/** Which component shows a view, and which describes a selected thing. All loaded when first needed. */
import type { ComponentType } from "react";
import type { PickedKind, ViewId } from "../state";
import { later } from "../ui";

export const VIEWS: Record<ViewId, ComponentType<object>> = {
  overview: later(() => import("./overview")),
  steps: later(() => import("./steps")),
  operators: later(() => import("./operators")),
  kernels: later(() => import("./kernels")),
  trace: later(() => import("./trace")),
  stacks: later(() => import("./stacks")),
  memory: later(() => import("./memory")),
  distributed: later(() => import("./distributed")),
  modules: later(() => import("./modules")),
  lightning: later(() => import("./modules/lightning")),
  compare: later(() => import("./compare")),
  capture: later(() => import("./capture")),
};

/** Null: the drawer shows only the name and where to see it. */
export const INSPECTORS: Record<PickedKind, ComponentType<{ name: string }> | null> = {
  op: later(() => import("./operators/inspector")),
  kernel: later(() => import("./kernels/inspector")),
  mod: later(() => import("./modules/inspector")),
  step: later(() => import("./steps/inspector")),
};
