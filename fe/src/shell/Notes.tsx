import type { Note, NoteSeverity } from "../api";
import { noteText, remedyText, t } from "../i18n";
import { Code } from "../ui";
import "./notes.css";

const RANK: Record<NoteSeverity, number> = { error: 0, warning: 1, info: 2 };

function worstSeverity(notes: readonly Note[]): NoteSeverity {
  return notes.reduce<NoteSeverity>(
    (worst, note) => (RANK[note.severity] < RANK[worst] ? note.severity : worst),
    "info",
  );
}

export function bySeverity(notes: readonly Note[]): Note[] {
  return notes.toSorted((a, b) => RANK[a.severity] - RANK[b.severity]);
}

export function NoteList({ notes }: { notes: readonly Note[] }) {
  return (
    <ul className="notes">
      {bySeverity(notes).map((note) => (
        <li key={`${note.kind} ${note.text}`}>
          <span className={`badge ${note.severity}`}>{t.severity[note.severity]}</span>
          <span>{noteText(note)}</span>
          {note.remedy && <Code text={remedyText({ ...note, remedy: note.remedy })} />}
        </li>
      ))}
    </ul>
  );
}

/** Errors, such as a file that was written half, are said openly; the rest is folded. Nothing without notes. */
export function PartialNotes({ notes }: { notes: readonly Note[] }) {
  const errors = notes.filter(({ severity }) => severity === "error");
  const rest = notes.filter(({ severity }) => severity !== "error");
  return (
    <>
      {errors.length > 0 && (
        <div className="partial error">
          <NoteList notes={errors} />
        </div>
      )}
      {rest.length > 0 && (
        <details className={`partial ${worstSeverity(rest)}`}>
          <summary>{t.panel.notes(rest.length)}</summary>
          <NoteList notes={rest} />
        </details>
      )}
    </>
  );
}
