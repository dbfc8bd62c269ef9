/** Says where a file may be dropped, how sending it goes on, and what is wrong with it. */
import { useCallback, useEffect, useRef, useState } from "react";
import { ApiError, mostBytes, sendFile } from "../../api/drop";
import { bytes } from "../../format";
import { drop as text } from "../../i18n/en/drop";
import { Dialog } from "../../ui";
import "./drop.css";

export interface Props {
  /** Whether what is dragged onto the page is taken. */
  listens: boolean;
  /** Whether something is above the page already. */
  above: boolean;
  /** To be sent at once. */
  files: readonly File[];
  /** Shows a run. */
  opened: (run: string) => Promise<void>;
  /** Nothing more is shown, nor will be: files were sent, and it does not listen. */
  ended: () => void;
}

/** What is shown: nothing, that files may be dropped, which one is sent, what went wrong. */
type State =
  | { is: "idle" }
  | { is: "above" }
  | { is: "sending"; file: File }
  | { is: "done"; problems: readonly string[] };

const IDLE: State = { is: "idle" };

export function DropZone({ listens, above, files, opened, ended }: Props) {
  const [state, setState] = useState<State>(above ? { is: "above" } : IDLE);
  const most = useRef<Promise<number>>(null);
  const begun = useRef(false);

  const rest = useCallback(() => {
    setState(IDLE);
    if (!listens) ended();
  }, [listens, ended]);

  const send = useCallback(
    async (chosen: readonly File[]) => {
      const problems: string[] = [];
      let run: string | null = null;
      for (const file of chosen) {
        setState({ is: "sending", file });
        try {
          most.current ??= mostBytes();
          const limit = await most.current;
          if (file.size > limit)
            problems.push(text.large(file.name, bytes(file.size), bytes(limit)));
          else run = await sendFile(file, run);
        } catch (error) {
          if (error instanceof ApiError && [403, 404, 405].includes(error.status)) {
            // Asked anew the next time: another server may be there then.
            most.current = null;
            problems.push(text.refused);
            break;
          }
          problems.push(error instanceof ApiError ? error.message : text.unread(file.name));
        }
      }
      if (run !== null) await opened(run);
      if (problems.length > 0) setState({ is: "done", problems });
      else rest();
    },
    [opened, rest],
  );

  useEffect(() => {
    if (begun.current || files.length === 0) return;
    begun.current = true;
    void send(files);
  }, [files, send]);

  const busy = state.is === "sending";
  useEffect(() => {
    if (!listens) return;
    const over = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.dataTransfer) event.dataTransfer.dropEffect = busy ? "none" : "copy";
      if (!busy) setState({ is: "above" });
    };
    const leave = (event: DragEvent) => {
      // Between two elements of the page it names the one it goes to.
      if (event.relatedTarget === null && !busy) setState(IDLE);
    };
    const dropped = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (!busy) void send([...(event.dataTransfer?.files ?? [])]);
    };
    addEventListener("dragenter", over);
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", dropped);
    return () => {
      removeEventListener("dragenter", over);
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", dropped);
    };
  }, [listens, busy, send]);

  if (state.is === "done") {
    return (
      <Dialog title={text.problems(state.problems.length)} onClose={rest}>
        <div role="alert">
          {state.problems.map((problem) => (
            <p key={problem}>{problem}</p>
          ))}
        </div>
      </Dialog>
    );
  }
  if (state.is === "idle") return null;
  return (
    <div className="drop-zone" role="status">
      <p>
        {state.is === "above" ? text.here : text.sending(state.file.name, bytes(state.file.size))}
      </p>
    </div>
  );
}

function hasFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}
