export { ApiError, requestPath, setBase } from "./client";
export * from "./memory";
export { isBusy, isPending } from "./poll";
export * from "./queries";
export type * from "./types";
