/** Which component shows a view, and which describes a selected thing. All loaded when first needed. */
import { type ComponentType, type LazyExoticComponent, lazy } from "react";
import type { SelectionKind, ViewId } from "../state";

type Lazy<P> = LazyExoticComponent<ComponentType<P>>;

export const VIEWS: Record<ViewId, Lazy<object>> = {
  overview: lazy(() => import("./overview")),
  operators: lazy(() => import("./operators")),
  kernels: lazy(() => import("./kernels")),
};

export const INSPECTORS: Record<SelectionKind, Lazy<{ name: string }>> = {
  op: lazy(() => import("./operators/inspector")),
  kernel: lazy(() => import("./kernels/inspector")),
};

/** The view in which a selected thing is a row. */
export const HOME: Record<SelectionKind, ViewId> = { op: "operators", kernel: "kernels" };
