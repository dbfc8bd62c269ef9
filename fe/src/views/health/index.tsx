/** What was recorded, how, and what is wrong with the recording. */
import { useMemo } from "react";
import { type Capture, type DistributedInfo, type Health, useHealth, useStatus } from "../../api";
import { HBars } from "../../charts";
import { count, duration } from "../../format";
import { t, captureTexts as text, textFor } from "../../i18n";
import { fileRows } from "../../shell";
import FilesTable from "../../shell/FilesTable";
import { goToView, useTrace } from "../../state";
import { Async, Empty, Facts, Panel, Wide } from "../../ui";
import { Devices } from "./Devices";
import { HealthList } from "./Health";
import { Log } from "./Log";
import { Options } from "./OptionList";
import { Recording } from "./Recording";
import { versionText } from "./versions";
import "../../ui/lines.css";
import "./capture.css";

export default function CaptureView() {
  const { sel } = useTrace();
  const query = useHealth(sel);
  return (
    <>
      <Async query={query}>{(health) => <Content health={health} />}</Async>
      <Files />
    </>
  );
}

function Content({ health }: { health: Health }) {
  const { capture, notes } = health;
  const file = useTrace().trace?.file ?? "";
  return (
    <div className="capture">
      <p className="lead">
        {text.sentence(capture.steps, count(capture.events), duration(capture.duration_ns))}{" "}
        {text.noted(notes.length)}
      </p>
      <Recording health={health} file={file} />
      <HealthList notes={notes} />
      <Options capture={capture} />
      <Categories capture={capture} />
      <Devices devices={capture.devices} />
      <Versions capture={capture} />
      <Distributed info={capture.distributed} />
      <Metadata capture={capture} />
      <Log log={health.log} />
    </div>
  );
}

function Categories({ capture: { categories, events } }: { capture: Capture }) {
  const items = useMemo(
    () =>
      categories.map(({ category, events: value }) => ({
        label: textFor(text.categories.names, category) ?? category,
        value,
      })),
    [categories],
  );
  return (
    <Panel className="area-categories" title={text.categories.title} help={text.categories.help}>
      <HBars
        title={text.categories.title}
        unit="count"
        items={items}
        total={events}
        onPick={(_, at) => goToView("trace", null, listOf(categories[at]?.category ?? ""))}
      />
    </Panel>
  );
}

/** The list of slices of a category, which is all of them for what is no slice, such as flow events. */
const listOf = (category: string) => ({ list: true, category, search: "", page: 0 });

function Versions({ capture: { versions } }: { capture: Capture }) {
  const facts = Object.entries(versions).map(([name, value]) => ({
    name: textFor(text.versions.names, name) ?? name,
    value: versionText(name, value),
    help: `${name}: ${value}`,
  }));
  return (
    <Panel className="area-versions" title={text.versions.title}>
      {facts.length > 0 ? <Facts facts={facts} /> : <p className="muted">{text.versions.none}</p>}
    </Panel>
  );
}

function Distributed({ info }: { info: DistributedInfo | null }) {
  const words = text.distributed;
  const said = (value: number | null) => (value === null ? words.unknown : count(value));
  return (
    <Panel className="area-distributed" title={words.title}>
      {info === null ? (
        <Empty reason={words.none} remedy={words.remedy} />
      ) : (
        <Facts
          facts={[
            { name: words.rank, value: said(info.rank) },
            { name: words.worldSize, value: said(info.world_size) },
            { name: words.backend, value: info.backend ?? words.unknown },
            { name: words.groups, value: said(info.groups) },
          ]}
        />
      )}
    </Panel>
  );
}

function Metadata({ capture: { metadata } }: { capture: Capture }) {
  const facts = Object.entries(metadata).map(([name, value]) => ({ name, value: String(value) }));
  if (facts.length === 0) return null;
  return (
    <Panel className="area-metadata" title={text.metadata.title} help={text.metadata.help}>
      <Facts facts={facts} />
    </Panel>
  );
}

/** Also there when the trace itself cannot be asked. */
function Files() {
  const status = useStatus().data;
  const { run } = useTrace();
  if (!run || !status) return null;
  return (
    <Panel title={text.files.title} help={text.files.help}>
      <Wide label={t.files.title}>
        <FilesTable rows={fileRows({ runs: [run], skipped: status.skipped })} />
      </Wide>
    </Panel>
  );
}
