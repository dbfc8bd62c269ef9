/** Further ranks of the run, stacked below the one that is shown. */
import { traceTexts as text } from "../../i18n";
import { useAddress, useTrace, workersOf } from "../../state";
import { Link, Popup } from "../../ui";
import { params } from "./params";

/** Nothing with one rank. */
export function RankMenu() {
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
            <Link onClick={() => setWanted(others)}>{text.allRanks}</Link>
            <Link onClick={() => setWanted([])}>{text.noRanks}</Link>
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
