/** The frame: context bar, rail, the view, inspector, status line. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { type TraceKey, useDropStale, useStatusPolling } from "../api";
import { t } from "../i18n";
import { goToView, useSelected, useSelection, useViewId, VIEW_IDS, type ViewId } from "../state";
import { INSPECTORS, VIEWS } from "../views/registry";
import { Boundary } from "./Boundary";
import { ContextBar } from "./ContextBar";
import { FilesDialog } from "./Files";
import { Inspector } from "./Inspector";
import { KeysDialog } from "./KeysDialog";
import { Connecting, LoadingPage, Unreachable } from "./LoadingPage";
import { NoRuns } from "./NoRuns";
import { ViewNotes } from "./Notes";
import { NotesDialog } from "./NotesDialog";
import { Notices } from "./Notices";
import { Rail } from "./Rail";
import { StatusLine } from "./StatusLine";
import { actionFor, isTyping } from "./shortcuts";
import "./shell.css";

type DialogName = "keys" | "files" | "notes";

export function Shell() {
  const query = useStatusPolling();
  const status = query.data;
  const client = useQueryClient();
  const selection = useSelection();
  const [view] = useViewId();
  const [selected, setSelected] = useSelected();
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const main = useRef<HTMLElement>(null);
  useDropStale(status);

  useEffect(() => {
    document.title = `${t.views[view]} – ${t.product}`;
  }, [view]);

  const shortcuts = useRef<(event: KeyboardEvent) => void>(() => {});
  useEffect(() => {
    shortcuts.current = (event) => {
      if (event.defaultPrevented || dialog) return;
      const action = actionFor(event);
      if (!action || (isTyping(event.target) && action.type !== "clear")) return;
      if (action.type === "view") {
        const id = VIEW_IDS[action.index];
        if (id) goToView(id);
      } else if (action.type === "help") {
        setDialog("keys");
      } else if (action.type === "clear") {
        if (isTyping(event.target)) (event.target as HTMLElement).blur();
        else setSelected(null);
      } else {
        const field = main.current?.querySelector<HTMLInputElement>("input[type=search]");
        if (!field) return;
        event.preventDefault();
        field.focus();
      }
    };
  });
  useEffect(() => {
    const listen = (event: KeyboardEvent) => shortcuts.current(event);
    document.addEventListener("keydown", listen);
    return () => document.removeEventListener("keydown", listen);
  }, []);

  const [refreshing, setRefreshing] = useState(false);
  const refresh = async () => {
    setRefreshing(true);
    await client.invalidateQueries();
    setRefreshing(false);
  };
  const retry = () => void query.refetch();
  const close = () => setDialog(null);
  const InspectorBody = selected && INSPECTORS[selected.kind];

  return (
    <div className="shell">
      <ContextBar
        status={status}
        selection={selection}
        refreshing={refreshing}
        onRefresh={() => void refresh()}
        onKeys={() => setDialog("keys")}
      />
      <Rail view={view} />
      <main className="main" ref={main}>
        <Notices
          dropped={selection.dropped}
          lost={query.isError && status !== undefined}
          onRetry={retry}
        />
        {status === undefined ? (
          query.isError ? (
            <Unreachable error={query.error} onRetry={retry} />
          ) : (
            <Connecting />
          )
        ) : selection.trace === null ? (
          <NoRuns status={status} />
        ) : selection.trace.state !== "ready" ? (
          <LoadingPage status={status} selection={selection} trace={selection.trace} />
        ) : (
          <CurrentView view={view} sel={selection.sel} />
        )}
      </main>
      {selected && InspectorBody && selection.trace?.state === "ready" && (
        <Inspector selected={selected} onClose={() => setSelected(null)}>
          <Boundary key={`${selected.kind}:${selected.name}`}>
            <InspectorBody name={selected.name} />
          </Boundary>
        </Inspector>
      )}
      <StatusLine
        status={status}
        selection={selection}
        onFiles={() => setDialog("files")}
        onNotes={() => setDialog("notes")}
      />
      {dialog === "keys" && <KeysDialog onClose={close} />}
      {dialog === "files" && status && <FilesDialog status={status} onClose={close} />}
      {dialog === "notes" && selection.sel && <NotesDialog sel={selection.sel} onClose={close} />}
    </div>
  );
}

function CurrentView({ view, sel }: { view: ViewId; sel: TraceKey | null }) {
  const View = VIEWS[view];
  return (
    <div className="view">
      <h1>{t.views[view]}</h1>
      <ViewNotes sel={sel} view={view} />
      <Boundary key={view}>
        <View />
      </Boundary>
    </div>
  );
}
