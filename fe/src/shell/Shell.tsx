/** The frame: context bar, rail, the view, inspector, status line. */
import { useQueryClient } from "@tanstack/react-query";
import { type ComponentType, useEffect, useRef, useState } from "react";
import {
  reportAddress,
  reportMade,
  useDropStale,
  useServerReturned,
  useStatusPolling,
} from "../api";
import { awaitInSight, saveFrom } from "../host";
import { t } from "../i18n";
import {
  type CurrentTrace,
  findView,
  goToView,
  type PickedKind,
  usePicked,
  useTrace,
  useViewId,
  type ViewId,
  viewName,
} from "../state";
import { Boundary, later, Missing, Panel } from "../ui";
import { Connecting, Unreachable } from "./Connecting";
import { ContextBar, useCopyLink } from "./ContextBar";
import { Notices } from "./Notices";
import { Palette } from "./palette/Palette";
import { HANG, hasDumps, isOf, shownView } from "./presence";
import { Rail } from "./Rail";
import { StatusLine } from "./StatusLine";
import { useShortcuts } from "./useShortcuts";
import { ViewHead } from "./ViewHead";
import "./shell.css";

const Nothing = () => null;

// What says something in words of the server, or of a view, is fetched with these: see `i18n/README.md`.
const Inspector = later(() => import("./Inspector"), Nothing);
const FilesDialog = later(() => import("./Files"), Nothing);
const KeysDialog = later(() => import("./KeysDialog"), Nothing);
const NotesDialog = later(() => import("./NotesDialog"), Nothing);
const LoadingPage = later(() => import("./LoadingPage"));
const NoRuns = later(() => import("./NoRuns"));
const ViewNotes = later(() => import("./ViewNotes"), Nothing);

type DialogName = "keys" | "files" | "notes" | "palette";

interface Props {
  /** What shows each view, and what describes a picked thing; without: its name alone. */
  views: Readonly<Record<ViewId, ComponentType<object>>>;
  inspectors: Readonly<Partial<Record<PickedKind, ComponentType<{ name: string }>>>>;
}

export function Shell({ views, inspectors }: Props) {
  const query = useStatusPolling();
  const status = query.data;
  const client = useQueryClient();
  const current = useTrace();
  const [wanted] = useViewId();
  const view = shownView(wanted, current.trace, current.run);
  const [selected, setSelected] = usePicked();
  const [dialog, setDialog] = useState<DialogName | null>(null);
  const main = useRef<HTMLElement>(null);
  const link = useCopyLink(current);
  useDropStale(status);
  useServerReturned(query, () => {
    void client.refetchQueries({ predicate: ({ state }) => state.status === "error" });
  });

  // What the address names from the start is gone to as well.
  const first = useRef(selected?.name ?? null);
  useEffect(() => awaitInSight(first.current), []);
  useEffect(() => {
    document.title = `${viewName(view)} – ${t.product}`;
  }, [view]);

  useShortcuts(dialog === null, {
    // what the rail does not offer of this file has no key either
    view: (id) => {
      if (isOf(id, current.trace, current.run)) goToView(id);
    },
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
  const InspectorBody = selected && inspectors[selected.kind];

  return (
    <div className="shell">
      {/* not a link: the part of the address behind its # is the state of the page */}
      <button type="button" className="skip" onClick={() => main.current?.focus()}>
        {t.skip}
      </button>
      <ContextBar
        status={status}
        current={current}
        refreshing={refreshing}
        link={link}
        onRefresh={() => void refresh()}
        onKeys={() => setDialog("keys")}
        onPalette={() => setDialog("palette")}
      />
      <Rail
        view={view}
        trace={current.trace}
        run={current.run}
        isEmpty={status !== undefined && current.run === null}
      />
      <main className="main" ref={main} tabIndex={-1}>
        <Notices
          dropped={current.dropped}
          lost={query.isError && status !== undefined}
          onRetry={retry}
        />
        {status === undefined ? (
          query.isError ? (
            <Unreachable error={query.error} onRetry={retry} />
          ) : (
            <Connecting />
          )
        ) : view === HANG && hasDumps(current.run) ? (
          // It needs no trace, and does not wait for one.
          <CurrentView view={view} View={views[view] ?? Nothing} current={current} />
        ) : current.trace === null ? (
          <NoRuns status={status} />
        ) : current.trace.state !== "ready" ? (
          <LoadingPage status={status} current={current} trace={current.trace} />
        ) : (
          <CurrentView view={view} View={views[view] ?? Nothing} current={current} />
        )}
      </main>
      {selected && current.trace?.state === "ready" && (
        <Inspector selected={selected} current={current} onClose={() => setSelected(null)}>
          {InspectorBody && (
            <Boundary key={`${selected.kind}:${selected.name}`}>
              <InspectorBody name={selected.name} />
            </Boundary>
          )}
        </Inspector>
      )}
      <StatusLine
        status={status}
        current={current}
        onFiles={() => setDialog("files")}
        onNotes={() => setDialog("notes")}
      />
      {dialog === "keys" && (
        <Boundary>
          <KeysDialog current={current} onClose={close} />
        </Boundary>
      )}
      {dialog === "files" && status && (
        <Boundary>
          <FilesDialog status={status} onClose={close} />
        </Boundary>
      )}
      {dialog === "notes" && current.sel && (
        <Boundary>
          <NotesDialog sel={current.sel} onClose={close} />
        </Boundary>
      )}
      {dialog === "palette" && (
        <Palette
          status={status}
          current={current}
          commands={{
            refresh: () => void refresh(),
            copyLink: link.copy,
            report: () => current.sel && saveFrom(reportAddress(current.sel)),
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

interface CurrentViewProps {
  view: ViewId;
  View: ComponentType<object>;
  current: CurrentTrace;
}

function CurrentView({ view, View, current }: CurrentViewProps) {
  const { needsServer, onlyIfOffered, hasHead } = findView(view) ?? {};
  const missing =
    needsServer && reportMade() !== null
      ? t.report.missing
      : onlyIfOffered && !isOf(view, current.trace, current.run)
        ? onlyIfOffered
        : null;
  return (
    <div className="view">
      {(!hasHead || missing) && <ViewHead view={view} />}
      <Boundary>
        <ViewNotes sel={current.sel} view={view} />
      </Boundary>
      <Boundary key={view}>
        {/* Tiles of a timeline are made when they are asked for. */}
        {missing ? (
          <Panel title={viewName(view)}>
            <Missing words={missing} />
          </Panel>
        ) : (
          <View />
        )}
      </Boundary>
    </div>
  );
}
