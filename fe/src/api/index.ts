export { ApiError, requestPath, setBase } from "./client";
export * from "./distributed";
export { isBusy, isPending } from "./poll";
export * from "./queries";
export * from "./trace";
export type * from "./types";
