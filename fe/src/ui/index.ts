/** What views draw with. The shell's own parts (context bar, rail, …) are not for them. */
export { Async, Empty, type EmptyReason, Failure, Skeleton } from "./Async";
export { Code } from "./Code";
export { CopyButton } from "./CopyButton";
export { FilesTable } from "./Files";
export { Help } from "./Help";
export { bySeverity, NoteList } from "./Notes";
export { Panel, QueryPanel } from "./Panel";
export { ProgressBar } from "./ProgressBar";
export { fileRows } from "./progress";
export { Segmented } from "./Segmented";
export { SourceLink } from "./SourceLink";
