/** What stands above the picture. */
import { useId } from "react";
import type { TimeWindow } from "../../draw";
import { traceTexts as text } from "../../i18n";
import { useAddress, useTrace, workersOf } from "../../state";
import { COLOR_BY, type ColorBy, type Tool } from "../../timeline";
import { Popup, Segmented } from "../../ui";
import { Bookmarks, type BookmarksState } from "./Bookmarks";
import { ExplainMenu } from "./Explain";
import { FLOW_MODES } from "./look";
import { params } from "./params";

interface Props {
  readonly tool: Tool;
  readonly onTool: (tool: Tool) => void;
  /** ns; 0 until it is known. */
  readonly longestStep: number;
  readonly bookmarks: BookmarksState;
  readonly current: () => TimeWindow;
  readonly onGo: (window: TimeWindow) => void;
}

export function Tools({ tool, onTool, longestStep, bookmarks, current, onGo }: Props) {
  const [colorBy, setColorBy] = useAddress(params.colorBy);
  const [flows, setFlows] = useAddress(params.flows);
  const [least, setLeast] = useAddress(params.least);
  const id = useId();
  return (
    <div className="trace-tools">
      <Segmented
        label={text.tool}
        value={tool}
        options={(["pan", "range", "measure"] as const).map((value) => ({
          value,
          label: text.tools[value],
        }))}
        onChange={onTool}
      />
      <Segmented
        label={text.flows}
        labelled
        value={flows}
        options={FLOW_MODES.map((value) => ({ value, label: text.flowModes[value] }))}
        onChange={setFlows}
      />
      <label htmlFor={`${id}color`}>{text.colorBy}</label>
      <select
        id={`${id}color`}
        className="select"
        value={colorBy}
        onChange={(event) => setColorBy(event.target.value as ColorBy)}
      >
        {COLOR_BY.map((value) => (
          <option key={value} value={value}>
            {text.colors[value]}
          </option>
        ))}
      </select>
      <label htmlFor={`${id}least`}>{text.least}</label>
      <input
        id={`${id}least`}
        className="trace-field trace-least num"
        inputMode="decimal"
        autoComplete="off"
        value={least}
        onChange={(event) => setLeast(event.target.value)}
      />
      <ExplainMenu longestStep={longestStep} />
      <Ranks />
      <Bookmarks bookmarks={bookmarks} current={current} onGo={onGo} />
    </div>
  );
}

/** Further ranks of the run, stacked below the one that is shown. */
function Ranks() {
  const { run, sel } = useTrace();
  const [wanted, setWanted] = useAddress(params.workers);
  if (!run || !sel) return null;
  const others = workersOf(run).filter((worker) => worker !== sel.worker);
  if (others.length === 0) return null;
  const shown = wanted.filter((worker) => others.includes(worker));
  return (
    <Popup label={text.ranks(shown.length, others.length)}>
      {() => (
        <fieldset className="trace-menu">
          <legend className="visually-hidden">{text.ranksHelp}</legend>
          <div className="trace-ranks-all">
            <button type="button" className="link" onClick={() => setWanted(others)}>
              {text.allRanks}
            </button>
            <button type="button" className="link" onClick={() => setWanted([])}>
              {text.noRanks}
            </button>
          </div>
          {others.map((worker) => (
            <label key={worker}>
              <input
                type="checkbox"
                checked={shown.includes(worker)}
                onChange={() =>
                  setWanted(
                    shown.includes(worker)
                      ? shown.filter((each) => each !== worker)
                      : others.filter((each) => each === worker || shown.includes(each)),
                  )
                }
              />{" "}
              {worker}
            </label>
          ))}
        </fieldset>
      )}
    </Popup>
  );
}
