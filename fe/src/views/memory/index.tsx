/** How much memory was in use, when was it most, and what held it. */
import { type MemoryCurves, useMemoryCurves } from "../../api";
import { noteText, memoryTexts as text } from "../../i18n";
import { useTrace } from "../../state";
import { Empty, Flow, Panel, QueryPanel } from "../../ui";
import { CategoriesPanel } from "./Categories";
import { CurvePanel } from "./CurvePanel";
import { ErrorTextPanel, FailuresPanel } from "./Failures";
import { momentOf, TABLES } from "./look";
import { SameProcessPanel } from "./SameProcess";
import { Tables } from "./Tables";
import { useLook } from "./useLook";
import "../../ui/lines.css";
import "./memory.css";

export default function Memory() {
  const { sel } = useTrace();
  const query = useMemoryCurves(sel);
  if (!query.data) {
    return (
      <QueryPanel title={text.curve} query={query}>
        {() => null}
      </QueryPanel>
    );
  }
  if (query.data.meta.devices.length === 0) return <NotRecorded curves={query.data} />;
  return <Recorded curves={query.data} query={query} />;
}

function NotRecorded({ curves }: { curves: MemoryCurves }) {
  const note = curves.meta.notes.find(({ kind }) => kind === "no_memory");
  return (
    <>
      <Panel title={text.curve} help={text.curveHelp}>
        <Empty
          title={text.empty}
          reason={(note && noteText(note)) ?? text.emptyReason}
          remedy={note?.remedy ?? text.emptyRemedy}
        />
      </Panel>
      <ErrorTextPanel />
    </>
  );
}

interface Props {
  readonly curves: MemoryCurves;
  readonly query: ReturnType<typeof useMemoryCurves>;
}

function Recorded({ curves, query }: Props) {
  const { sel } = useTrace();
  const look = useLook(curves);
  const detail = useMemoryCurves(sel, look.range);
  const whole = curveOf(curves, look.device);
  const here = detail.isPlaceholderData ? null : curveOf(detail.data, look.device);
  const moment = whole && momentOf(look.cursor, look.range, whole, here);
  return (
    <Flow>
      <FailuresPanel />
      <CurvePanel query={query} detail={detail} whole={whole} here={here} look={look} />
      <CategoriesPanel device={look.device} />
      <div id={TABLES.id}>
        <Tables
          look={look}
          // What is still shown of another trace must not be asked of this one.
          device={query.isPlaceholderData ? null : look.device}
          hasCurve={whole !== null}
          moment={moment}
        />
      </div>
      <SameProcessPanel />
      <ErrorTextPanel />
    </Flow>
  );
}

function curveOf(curves: MemoryCurves | undefined, device: string | null) {
  return curves?.devices.find((curve) => curve.device === device) ?? null;
}
