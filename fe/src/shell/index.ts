/** What views draw with that knows runs, traces and their state. The frame itself is not for them. */
export { BaselineNote } from "./BaselineNote";
export { Choice } from "./Choice";
export { modulePath, rowOfModule } from "./modulePath";
export { bySeverity, NoteList, PartialNotes } from "./Notes";
export { longestSlice } from "./places";
export { fileRows, traceProgress } from "./progress";
export { StepChoice } from "./StepChoice";
export { TracePicker } from "./TracePicker";
export { traceTitle } from "./traceTitle";
export { useCompared } from "./useCompared";
export { useDraft } from "./useDraft";
export { ViewHead } from "./ViewHead";
