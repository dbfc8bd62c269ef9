/** The trace-health notes and what the trace says about how it was recorded. */
import { type Cell, type TraceKey, useHealth } from "../api";
import { dialogsTexts } from "../i18n";
import { Async, Dialog, Facts } from "../ui";
import { NoteList } from "./Notes";

const text = dialogsTexts.notes;

export default function NotesDialog({ sel, onClose }: { sel: TraceKey; onClose: () => void }) {
  const query = useHealth(sel);
  return (
    <Dialog title={text.title} onClose={onClose}>
      <Async query={query}>
        {({ notes, capture }) => (
          <>
            {notes.length === 0 ? <p>{text.none}</p> : <NoteList notes={notes} />}
            <h3 className="dialog-sub">{text.capture}</h3>
            <Facts
              facts={Object.entries({ ...capture.versions, ...capture.options }).map(
                ([name, value]) => ({ name, value: factText(value) }),
              )}
            />
          </>
        )}
      </Async>
    </Dialog>
  );
}

function factText(value: Cell | object): string {
  if (value === null) return "–";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
