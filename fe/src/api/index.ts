export { ApiError, requestPath, setBase } from "./client";
export type * from "./compare";
export { useCompare } from "./compare";
export { isBusy, isPending } from "./poll";
export * from "./queries";
export type * from "./types";
