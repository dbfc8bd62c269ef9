/** What views draw with. The shell's own parts (context bar, rail, …) are not for them. */
export { Async, Empty, type EmptyReason, Failure, Skeleton } from "./Async";
export { Code } from "./Code";
export { CopyButton } from "./CopyButton";
export { Help } from "./Help";
export { NoteList } from "./Notes";
export { Panel, QueryPanel } from "./Panel";
export { ProgressBar } from "./ProgressBar";
export { Segmented } from "./Segmented";
