/** The answer in a sentence, and the numbers behind it. */

import { useTraceQuery } from "../../api";
import type {
  SnapshotAnswer,
  SnapshotLinkAnswer,
  SnapshotRecordAnswer,
} from "../../api/schema.gen";
import { useSnapshotPartner } from "../../api/snapshotLink";
import { bytes, count, duration, fraction, unbroken } from "../../format";
import { memoryText, snapshotTexts as text } from "../../i18n";
import { inCode } from "../../shell/findings";
import { change, goToView, selectTrace, setAddress, useTrace, viewName } from "../../state";
import { Combo, Link, Tile } from "../../ui";
import { params } from "./params";
import { type Look, openMoment } from "./useSnapshot";

export function DeviceChoice({ look }: { readonly look: Look }) {
  if (look.devices.length < 2) return null;
  return (
    <Combo
      label={text.device}
      value={String(look.device.device)}
      options={look.devices.map(({ device }) => ({ value: String(device), label: `GPU${device}` }))}
      onChange={look.setDevice}
    />
  );
}

export function Facts({ answer, look }: { readonly answer: SnapshotAnswer; readonly look: Look }) {
  const { device } = look;
  const most = device.moments.reduce((a, b) => (b.reserved > a.reserved ? b : a));
  const reserved = most.reserved;
  const oom = answer.ooms.findLastIndex((each) => each.device === device.device);
  const at = answer.devices.indexOf(device);
  const inferred = device.inferred_oom;
  return (
    <>
      <p className="lead">
        {unbroken(
          oom >= 0
            ? memoryText("oom", answer.oom_sentences[oom], answer.ooms[oom])
            : memoryText("device", answer.device_texts[at], device, { peak_reserved: reserved }),
        )}
      </p>
      {inferred && (
        <p className="snapshot-process">
          {unbroken(memoryText("inferred_oom", answer.inferred_texts[at], inferred))}
        </p>
      )}
      <SameProcess look={look} />
      <Tiles answer={answer} look={look} />
      <Warnings answer={answer} look={look} />
      <Findings answer={answer} look={look} />
    </>
  );
}

function Tiles({ answer, look }: { readonly answer: SnapshotAnswer; readonly look: Look }) {
  const { device } = look;
  const most = device.moments.reduce((a, b) => (b.reserved > a.reserved ? b : a));
  const leak = answer.findings.find((each) => each.id === "leak" && each.device === device.device);
  const { growth } = device;
  return (
    <dl className="tiles">
      {device.has_history ? (
        <>
          <Tile
            label={text.peak}
            value={bytes(device.peak_requested)}
            remark={
              device.allocated_exact
                ? text.blocks(bytes(device.peak_allocated))
                : text.blocks(text.atLeast(bytes(device.peak_allocated)))
            }
            onOpen={() => openMoment(look, "peak")}
          />
          <Tile
            label={text.reserved}
            value={bytes(most.reserved)}
            onOpen={() => openMoment(look, most.kind)}
          />
        </>
      ) : (
        <>
          <Tile label={text.peak} value={bytes(null)} remark={text.notRecorded} />
          <Tile
            label={text.reservedAtEnd}
            value={bytes(device.reserved)}
            remark={text.segments(count(device.segments))}
            onOpen={() => openMoment(look, "end")}
          />
        </>
      )}
      <Tile
        label={text.atEnd}
        value={bytes(device.requested)}
        remark={text.blocks(bytes(device.allocated))}
        onOpen={() => openMoment(look, "end")}
      />
      {device.has_history && (
        <Tile
          label={text.entries}
          value={count(device.entries)}
          onOpen={() => setAddress(change(params.axis, "record"), change(params.range, ""))}
        />
      )}
      <Tile
        label={text.fragmentation}
        help={text.fragmentationHelp}
        value={fraction(device.fragmentation)}
        onOpen={() => openMoment(look, "end")}
      />
      {growth.per_step !== null && (
        <Tile
          label={text.grows}
          value={bytes(growth.per_step)}
          remark={text.ofSteps(count(growth.steps))}
          onOpen={leak && (() => openMoment(look, String(leak.position)))}
        />
      )}
    </dl>
  );
}

function Findings({ answer, look }: { answer: SnapshotAnswer; look: Look }) {
  const found = answer.findings
    .map((finding, at) => ({ ...finding, said: answer.finding_texts[at] }))
    .filter(({ device }) => device === look.device.device);
  if (found.length === 0) return null;
  return (
    <>
      <h3 className="snapshot-findings">{text.findings}</h3>
      <ul className="snapshot-said">
        {found.map((each) => (
          <li key={each.id}>
            <strong>{text.severities[each.severity]}.</strong>{" "}
            {inCode(memoryText(each.id, each.said, each))}{" "}
            {each.position >= 0 && (
              <Link onClick={() => look.setAt(String(each.position))}>{text.showMoment}</Link>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

/** Which trace of the run is of the same process. */
function SameProcess({ look }: { readonly look: Look }) {
  const { sel, run, trace } = useTrace();
  const found = useSnapshotPartner(run, trace);
  const { device } = look.device;
  const linked = found !== null && found.answer.link.device === device;
  const moment = useTraceQuery("snapshot/record", linked ? sel : null, { device, at: look.at });
  if (!found) return null;
  const { partner, answer } = found;
  const { link } = answer;
  const name = { run: run?.name, worker: partner.worker, span: partner.span };
  return (
    <p className="muted snapshot-process">
      {link.offset_ns === null
        ? text.sameProcess.other(partner.worker)
        : text.sameProcess.linked(
            partner.worker,
            duration(link.offset_ns),
            fraction(link.matched),
          )}{" "}
      <Link
        onClick={() => {
          selectTrace(name);
          goToView("memory");
        }}
      >
        {text.sameProcess.open}
      </Link>
      {linked && moment.data && !moment.isPlaceholderData && (
        <>
          {" "}
          <InTrace answer={answer} record={moment.data} onTrace={() => selectTrace(name)} />
        </>
      )}
    </p>
  );
}

/** The moment that is looked at, in the trace of the same process. */
function InTrace({
  answer: { shift_ns: shift, begin_ns: begin, end_ns: end },
  record: { time_ns: own, position },
  onTrace,
}: {
  readonly answer: SnapshotLinkAnswer;
  readonly record: SnapshotRecordAnswer;
  readonly onTrace: () => void;
}) {
  if (shift === null || begin === null || end === null || own === null) return null;
  const time = own + shift;
  if (time < begin || time > end) return text.sameProcess.outside;
  const margin = Math.max(1_000, (end - begin) / 50);
  const window = { start: Math.max(0, time - margin), end: time + margin };
  return (
    <Link
      onClick={() => {
        onTrace();
        goToView("trace", null, { window, record: String(position) });
      }}
    >
      {text.sameProcess.moment(viewName("trace"))}
    </Link>
  );
}

function Warnings({ answer, look: { device } }: { answer: SnapshotAnswer; look: Look }) {
  const said = [
    answer.contradictions > 0 && text.contradictions(count(answer.contradictions)),
    answer.cut_off && text.cutOff,
    answer.overflowed === true && text.overflowed,
    device.missing.length > 0 && text.missing(device.missing.join(", ")),
  ].filter((each): each is string => typeof each === "string");
  if (said.length === 0) return null;
  return (
    <ul className="snapshot-said">
      {said.map((each) => (
        <li key={each}>{each}</li>
      ))}
    </ul>
  );
}
