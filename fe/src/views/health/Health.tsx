import type { Note } from "../../api";
import { count } from "../../format";
import { captureTexts, noteText, remedyText, t } from "../../i18n";
import { bySeverity } from "../../shell";
import { goToView, isViewId, viewName } from "../../state";
import { Code, Link, Panel } from "../../ui";
import { severities } from "./severities";

const text = captureTexts.health;

export function HealthList({ notes }: { notes: readonly Note[] }) {
  return (
    <Panel
      className="area-health"
      title={text.title}
      help={text.help}
      actions={notes.length > 0 && <span className="muted">{text.summary(severities(notes))}</span>}
    >
      {notes.length === 0 ? (
        <p className="muted">{text.none}</p>
      ) : (
        <ul className="health">
          {bySeverity(notes).map((note) => (
            <HealthNote key={`${note.kind} ${note.text}`} note={note} />
          ))}
        </ul>
      )}
    </Panel>
  );
}

function HealthNote({ note }: { note: Note }) {
  const { first_offset: offset } = note;
  return (
    <li>
      <span className={`badge ${note.severity}`}>{t.severity[note.severity]}</span>
      <div className="health-body">
        <p>{noteText(note)}</p>
        <p className="health-facts muted num">
          <code>{note.kind}</code>
          <span>{text.count(count(note.count))}</span>
          {offset !== null && offset !== undefined && <span>{text.offset(count(offset))}</span>}
          {note.touches.length > 0 && (
            <span>
              {text.touches}:{" "}
              {note.touches.map((view, index) => (
                <span key={view}>
                  {index > 0 && ", "}
                  <Touched view={view} />
                </span>
              ))}
            </span>
          )}
        </p>
        {note.remedy && <Code text={remedyText({ ...note, remedy: note.remedy })} />}
      </div>
    </li>
  );
}

function Touched({ view }: { view: string }) {
  if (!isViewId(view)) return <>{view}</>;
  return <Link onClick={() => goToView(view)}>{viewName(view)}</Link>;
}
