/** The selected slice: what it is, where it comes from, and the others of its name. */

import { useState } from "react";
import { type SliceDetails, type SliceRef, useTimelineArgs } from "../../api";
import { momentIn } from "../../draw";
import { count, duration, exact, frameLabel, onOneLine, parseFrameName } from "../../format";
import { dialogsTexts, ownersTexts, traceTexts as text, textFor, timelineTexts } from "../../i18n";
import { ShowIn } from "../../shell/findings";
import type { RankTiles } from "../../timeline";
import { Async, Button, CopyButton, Each, Fact, Facts, Link, Panel, SourceLink } from "../../ui";
import { Chain } from "./Chain";
import { Histogram } from "./Histogram";
import { sameName } from "./moves";
import { PICKABLE } from "./pickedSlice";
import { SliceLink } from "./SliceLink";
import { useEvent, useModel, useTraceState } from "./useTraceModel";

/** Of a list, before "and n more". */
const MOST = 12;

export function DetailsPanel() {
  const model = useModel();
  const state = useTraceState();
  return (
    <Panel title={text.selection} help={text.selectionHelp}>
      <Async query={useEvent(state)}>
        {(details) => (
          <Details
            details={details}
            source={state.event.rank}
            onSameName={(by) => void sameName(model, by)}
          />
        )}
      </Async>
    </Panel>
  );
}

interface OwnerProps {
  readonly owner: NonNullable<SliceDetails["owner"]>;
  readonly launcher: string | null;
}

/** Of device work that no operator launched: whom it belongs to instead, and how that is known. */
function OwnerFact({ owner, launcher }: OwnerProps) {
  const { how, name, reason, evidence } = owner;
  return (
    <Fact name={ownersTexts.owner}>
      {ownersTexts.words({ how, name, reason, launcher, english: owner.text })}{" "}
      <span className="muted">{textFor(ownersTexts.how, how) ?? how}</span>
      {owner.slice && owner.slice.row !== evidence?.row && (
        <>
          {" "}
          <SliceLink slice={owner.slice} />
        </>
      )}
      {evidence && (
        <>
          {" "}
          {textFor(ownersTexts.evidence, how)} <SliceLink slice={evidence} />
        </>
      )}
    </Fact>
  );
}

interface DetailsProps {
  readonly details: SliceDetails;
  readonly source: RankTiles | null;
  readonly onSameName: (by: -1 | 1) => void;
}

function Details({ details, source, onSameName }: DetailsProps) {
  const kind = PICKABLE[details.category];
  const end = source?.meta?.end_ns ?? details.start_ns + details.duration_ns;
  const launchOf = details.launched;
  return (
    <div className="trace-details">
      <div className="trace-details-main">
        <Glance details={details} source={source} />
        {details.short_name !== null && details.short_name !== details.name && (
          <p className="trace-details-short">{onOneLine(details.short_name)}</p>
        )}
        <h3 className="trace-details-name">{onOneLine(details.name)}</h3>
        <Chain {...details} />
        <div className="trace-downloads">
          <CopyButton text={details.name} label={dialogsTexts.inspector.copyName} />
          {kind && (
            <ShowIn
              view={kind === "op" ? "operators" : "kernels"}
              select={{ kind, name: details.name }}
            />
          )}
          <Button onClick={() => onSameName(-1)}>‹ {text.previousSame}</Button>
          <Button onClick={() => onSameName(1)}>{text.nextSame} ›</Button>
        </div>
        <Numbers details={details} end={end} />
      </div>
      {launchOf.total > 0 && (
        <List
          title={text.launched(count(launchOf.total), duration(launchOf.total_ns))}
          slices={launchOf.slices}
          total={launchOf.total}
        />
      )}
      {details.forward.length > 0 && <List title={text.forward} slices={details.forward} />}
      {details.backward.length > 0 && <List title={text.backward} slices={details.backward} />}
      <SameName details={details} source={source} />
      <Args args={details.args} computed={details.computed} />
      <RawArgs key={`${source?.worker} ${details.row}`} row={details.row} source={source} />
      <Frames title={text.stack} frames={details.stack.map(({ frame }) => frame).reverse()} />
      <Frames title={text.callStack} frames={details.call_stack} />
      {details.parents.length > 0 && (
        <List title={text.parents} slices={[...details.parents].reverse()} />
      )}
    </div>
  );
}

/** What one looks for first: how long, where, when. */
function Glance({ details, source }: Pick<DetailsProps, "details" | "source">) {
  const track = source?.trackOf(details.lane);
  const where = source?.tracks.find(({ key }) => key === track)?.name;
  const { step, last_step: last } = details;
  const when = step !== null && last === null ? text.stepName(frameLabel(step)) : null;
  return (
    <p className="trace-glance num">
      <strong title={exact(details.duration_ns, "ns")}>{duration(details.duration_ns)}</strong>
      {[where, when].filter((part) => part != null).map((part) => ` · ${part}`)}
    </p>
  );
}

interface NumbersProps extends Pick<DetailsProps, "details"> {
  /** Of the recording, ns. */
  readonly end: number;
}

function Numbers({ details, end }: NumbersProps) {
  return (
    <Facts>
      <Fact name={text.category}>{text.categories[details.category] ?? details.category}</Fact>
      <Fact name={timelineTexts.start} title={exact(details.start_ns, "ns")}>
        {momentIn(details.start_ns, { start: 0, end }, 1e9)}
      </Fact>
      <Fact name={timelineTexts.duration} title={exact(details.duration_ns, "ns")}>
        {duration(details.duration_ns)}
      </Fact>
      <Fact name={text.self} title={exact(details.self_ns, "ns")}>
        {duration(details.self_ns)}
      </Fact>
      {details.step !== null && (
        <Fact name={text.step}>
          {details.last_step === null
            ? details.step
            : text.severalSteps(details.step, details.last_step)}
        </Fact>
      )}
      <Fact name={text.event}>{count(details.row)}</Fact>
      {details.modules.length > 0 && <Fact name={text.modules}>{details.modules.join(" › ")}</Fact>}
      {details.operator && (
        <Fact name={text.operator}>
          <SliceLink slice={details.operator} />
        </Fact>
      )}
      {details.owner && details.owner.how !== "operator" && (
        <OwnerFact owner={details.owner} launcher={details.launch?.name ?? null} />
      )}
      {details.launch && (
        <Fact name={text.launch}>
          <SliceLink slice={details.launch} />{" "}
          <span className="muted">
            {text.launchDelay(duration(details.start_ns - details.launch.start_ns))}
          </span>
        </Fact>
      )}
    </Facts>
  );
}

interface ListProps {
  readonly title: string;
  readonly slices: readonly SliceRef[];
  readonly total?: number;
}

function List({ title, slices, total = slices.length }: ListProps) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ul className="trace-refs">
        {slices.slice(0, MOST).map((slice) => (
          <li key={slice.row}>
            <SliceLink slice={slice} />
            <span className="muted num">{duration(slice.duration_ns)}</span>
          </li>
        ))}
      </ul>
      {total > MOST && <p className="muted">{text.more(count(total - MOST))}</p>}
    </section>
  );
}

function Args({ args, computed }: Pick<SliceDetails, "args" | "computed">) {
  // what is computed stands in the place of what the file has
  const entries = Object.entries(args).filter(([key]) => !(key in computed));
  if (entries.length === 0) return null;
  return (
    <section aria-label={text.args}>
      <h3>{text.args}</h3>
      <div className="trace-args">
        <Facts>
          {entries.map(([key, value]) => (
            <Fact key={key} name={key}>
              <code>{typeof value === "string" ? value : JSON.stringify(value)}</code>
            </Fact>
          ))}
          {Object.entries(computed).map(([key, value]) => (
            <Fact key={key} name={key}>
              <code>{Number(value.toPrecision(6))}</code>{" "}
              <span className="muted">{text.computed}</span>
            </Fact>
          ))}
        </Facts>
      </div>
    </section>
  );
}

/** The file is read for them, so only on request. */
function RawArgs({ row, source }: { row: number; source: RankTiles | null }) {
  const [wanted, setWanted] = useState(false);
  const query = useTimelineArgs(source?.key ?? null, wanted ? row : null);
  if (!wanted)
    return (
      <p>
        <Button onClick={() => setWanted(true)}>{text.rawArgs}</Button>
      </p>
    );
  return (
    <section aria-label={text.rawArgsTitle}>
      <h3>{text.rawArgsTitle}</h3>
      <Async query={query}>
        {({ args, length }) =>
          args === null ? (
            <p className="muted">{text.noArgs}</p>
          ) : (
            <>
              <pre className="trace-raw">{args}</pre>
              <CopyButton text={args} label={text.copyArgs} />
              {args.length < length && (
                <p className="muted">{text.argsCut(count(args.length), count(length))}</p>
              )}
            </>
          )
        }
      </Async>
    </section>
  );
}

/** Innermost first, as in a traceback that is read from its end. */
export function Frames({ title, frames }: { title: string; frames: readonly string[] }) {
  if (frames.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ol className="trace-frames">
        <Each of={frames}>
          {(frame) => {
            const place = parseFrameName(frame);
            return (
              <li>
                {place ? (
                  <>
                    <span>{place.func}</span> <SourceLink file={place.file} line={place.line} />
                  </>
                ) : (
                  frame
                )}
              </li>
            );
          }}
        </Each>
      </ol>
    </section>
  );
}

function SameName({
  details: { same_name: same, row },
  source,
}: Pick<DetailsProps, "details" | "source">) {
  const model = useModel();
  const title = text.sameName(count(same.count));
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <Facts>
        <Fact name={text.sum}>{duration(same.total_ns)}</Fact>
        <Fact name={text.mean}>{duration(same.mean_ns)}</Fact>
        <Fact name={text.median}>{duration(same.median_ns)}</Fact>
        <Fact name={text.p95}>{duration(same.p95_ns)}</Fact>
        <Fact name={text.shortest}>{duration(same.min_ns)}</Fact>
        <Fact name={text.longest}>
          {duration(same.max_ns)}{" "}
          {same.longest_row !== row && source && (
            <Link
              onClick={() =>
                model.pick({
                  worker: source.worker,
                  row: same.longest_row,
                  lane: -1,
                  start: -1,
                  duration: 0,
                })
              }
            >
              {text.goToLongest}
            </Link>
          )}
        </Fact>
        <Fact name={text.position}>
          {text.positionOf(count(same.position + 1), count(same.count))}
        </Fact>
      </Facts>
      {same.histogram && <Histogram title={text.histogram} {...same.histogram} />}
    </section>
  );
}
