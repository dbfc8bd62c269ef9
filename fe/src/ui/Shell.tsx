/** The frame: context bar, rail, the view, inspector, status line. */
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { reportAddress, reportMade, useDropStale, useStatusPolling } from "../api";
import { saveFrom } from "../host";
import { t } from "../i18n";
import {
  goToView,
  type Selection,
  useSelected,
  useSelection,
  useViewId,
  type ViewId,
} from "../state";
import { INSPECTORS, VIEWS } from "../views/registry";
import { NotInReport } from "./Async";
import { Boundary } from "./Boundary";
import { RangeChip } from "./brush/RangeChip";
import { ContextBar, useCopyLink } from "./ContextBar";
import { FilesDialog } from "./Files";
import { Inspector } from "./Inspector";
import { KeysDialog } from "./KeysDialog";
import { Connecting, LoadingPage, Unreachable } from "./LoadingPage";
import { NoRuns } from "./NoRuns";
import { ViewNotes } from "./Notes";
import { NotesDialog } from "./NotesDialog";
import { Notices } from "./Notices";
import { Panel } from "./Panel";
import { Palette } from "./palette/Palette";
import { Rail } from "./Rail";
import { StatusLine } from "./StatusLine";
import { useShortcuts } from "./useShortcuts";
import "./shell.css";

type DialogName = "keys" | "files" | "notes" | "palette";

export function Shell() {
  const query = useStatusPolling();
  const status = query.data;
  const client = useQueryClient();
  const selection = useSelection();
  const [view] = useViewId();
  const [selected, setSelected] = useSelected();
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const main = useRef<HTMLElement>(null);
  const link = useCopyLink(selection);
  useDropStale(status);

  useEffect(() => {
    document.title = `${t.views[view]} – ${t.product}`;
  }, [view]);

  useShortcuts(dialog === null, {
    view: goToView,
    palette: () => setDialog("palette"),
    help: () => setDialog("keys"),
    clear: () => setSelected(null),
    filter: () => {
      const field = main.current?.querySelector<HTMLInputElement>("input[type=search]");
      field?.focus();
      return field !== null && field !== undefined;
    },
  });

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
        link={link}
        onRefresh={() => void refresh()}
        onKeys={() => setDialog("keys")}
        onPalette={() => setDialog("palette")}
      />
      <Rail view={view} trace={selection.trace} />
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
          <CurrentView view={view} selection={selection} />
        )}
      </main>
      {selected && selection.trace?.state === "ready" && (
        <Inspector selected={selected} selection={selection} onClose={() => setSelected(null)}>
          {InspectorBody && (
            <Boundary key={`${selected.kind}:${selected.name}`}>
              <InspectorBody name={selected.name} />
            </Boundary>
          )}
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
      {dialog === "palette" && (
        <Palette
          status={status}
          selection={selection}
          commands={{
            refresh: () => void refresh(),
            copyLink: link.copy,
            report: () => selection.sel && saveFrom(reportAddress(selection.sel)),
            keys: () => setDialog("keys"),
            files: () => setDialog("files"),
            notes: () => setDialog("notes"),
          }}
          onClose={close}
        />
      )}
    </div>
  );
}

function CurrentView({ view, selection }: { view: ViewId; selection: Selection }) {
  const View = VIEWS[view];
  return (
    <div className="view">
      <div className="view-head">
        <h1>{t.views[view]}</h1>
        <RangeChip view={view} selection={selection} />
      </div>
      <ViewNotes sel={selection.sel} view={view} />
      <Boundary key={view}>
        {/* Tiles of a timeline are made when they are asked for. */}
        {view === "trace" && reportMade() !== null ? (
          <Panel title={t.views.trace}>
            <NotInReport />
          </Panel>
        ) : (
          <View />
        )}
      </Boundary>
    </div>
  );
}
