import { type TraceKey, useHealth } from "../api";
import { noteText, remedyText, t } from "../i18n";
import { useTrace } from "../state";
import { Empty } from "../ui";
import { PartialNotes } from "./Notes";
import { useCaption } from "./useCaption";

/** "Partial, with notes": once above a view whose data is not the whole story; or that there is none at all. Pictures are told here what they are of: this is fetched with the words of verdicts. */
export default function ViewNotes({ sel, view }: { sel: TraceKey | null; view: string }) {
  useCaption(useTrace());
  const notes = useHealth(sel).data?.notes.filter((note) => note.touches.includes(view)) ?? [];
  const nothing = notes.find(({ kind }) => kind === "no_events" || kind === "foreign_trace");
  if (!nothing) return <PartialNotes notes={notes} />;
  return (
    <Empty
      title={nothing.kind === "no_events" ? t.loading.noEventsTitle : t.loading.foreignTitle}
      reason={noteText(nothing)}
      remedy={nothing.remedy && remedyText({ ...nothing, remedy: nothing.remedy })}
    />
  );
}
