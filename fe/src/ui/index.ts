/** What views draw with. The shell's own parts (context bar, rail, …) are not for them. */
export { Async, Empty, type EmptyReason, Failure, Skeleton } from "./Async";
export { Code } from "./Code";
export { Combo } from "./Combo";
export { CopyButton } from "./CopyButton";
export { categoryColor } from "./categories";
export { FilesTable } from "./Files";
export { Help } from "./Help";
export { bySeverity, NoteList, PartialNotes } from "./Notes";
export type { Option } from "./options";
export { Panel, QueryPanel } from "./Panel";
export { ProgressBar } from "./ProgressBar";
export { fileRows } from "./progress";
export { Segmented } from "./Segmented";
export { StepChoice } from "./StepChoice";
export { Tile } from "./Tile";
