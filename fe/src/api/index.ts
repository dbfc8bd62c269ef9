export { ApiError, requestPath, setBase } from "./client";
export { isBusy, isPending } from "./poll";
export * from "./queries";
export * from "./tables";
export type * from "./types";
