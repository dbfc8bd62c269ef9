export { ApiError, requestPath, setBase } from "./client";
export type * from "./compare";
export { useCompare } from "./compare";
export * from "./distributed";
export * from "./memory";
export { isBusy, isPending } from "./poll";
export * from "./queries";
export * from "./trace";
export type * from "./types";
