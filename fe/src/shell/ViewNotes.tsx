import { type TraceKey, useHealth } from "../api";
import { PartialNotes } from "./Notes";

/** "Partial, with notes": once above a view whose data is not the whole story. */
export default function ViewNotes({ sel, view }: { sel: TraceKey | null; view: string }) {
  const notes = useHealth(sel).data?.notes.filter((note) => note.touches.includes(view)) ?? [];
  return <PartialNotes notes={notes} />;
}
