export { ApiError, requestPath, setBase } from "./client";
export * from "./modules";
export { isBusy, isPending } from "./poll";
export * from "./queries";
export * from "./stacks";
export type * from "./types";
