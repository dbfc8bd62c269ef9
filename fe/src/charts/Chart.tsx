import { useCallback, useEffect, useRef, useState } from "react";
import { type ChartTheme, readTheme } from "../draw";
import { canSave, saveFile, useTheme } from "../host";
import { chartsTexts } from "../i18n";
import { ActionButton, type ChartRow, ChartTable } from "./ChartTable";
import type { ChartOption } from "./options/parts";
import "./charts.css";

type Engine = typeof import("./engine");
type Instance = ReturnType<Engine["init"]>;

export interface ChartProps {
  readonly title: string;
  /** What a person who does not see the picture should know. */
  readonly summary: string;
  readonly height: number;
  readonly build: (theme: ChartTheme, width: number) => ChartOption;
  readonly onPick?: ((index: number, series: string) => void) | undefined;
  /** The same numbers as a table. */
  readonly head: readonly string[];
  /** How many of the first columns are text; the others are numbers. */
  readonly texts?: number;
  /** A function where making them costs much: most people look at the picture only. */
  readonly rows: readonly ChartRow[] | (() => readonly ChartRow[]);
}

/** The frame of every standard chart. Expects `build` and `onPick` to keep their identity while they mean the same. */
export function Chart({
  title,
  summary,
  height,
  build,
  onPick,
  head,
  texts = 1,
  rows,
}: ChartProps) {
  const { engine, failed } = useEngine();
  const [asTable, setAsTable] = useState(false);
  const theme = useTheme();
  const { box, chart, width } = useInstance(engine, asTable);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme is read from the page's computed style
  useEffect(() => {
    if (chart && box.current && width > 0) {
      chart.setOption(build(readTheme(box.current), width), { notMerge: true });
    }
  }, [chart, build, width, theme, box]);

  useEffect(() => {
    if (!chart || !onPick) return;
    const clicked = (event: PickEvent) => {
      // A label of a category axis carries the position of its bar as `dataIndex`, too.
      const index = event.dataIndex;
      if (index !== undefined) onPick(index, event.seriesId ?? "");
    };
    const listener = clicked as (event: unknown) => void;
    chart.on("click", listener);
    return () => {
      chart.off("click", listener);
    };
  }, [chart, onPick]);

  const save = useCallback(
    (kind: "png" | "svg") => {
      if (engine && chart && box.current)
        savePicture(engine, chart, box.current, build, title, kind);
    },
    [engine, chart, box, build, title],
  );

  const shownAsTable = asTable || failed;
  return (
    <figure className={shownAsTable ? "chart as-table" : "chart"}>
      <div className="chart-actions">
        {!shownAsTable && canSave() && (
          <>
            <ActionButton label={chartsTexts.png} onClick={() => save("png")}>
              PNG
            </ActionButton>
            <ActionButton label={chartsTexts.svg} onClick={() => save("svg")}>
              SVG
            </ActionButton>
          </>
        )}
        <ActionButton
          label={asTable ? chartsTexts.showChart : chartsTexts.showTable}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? chartsTexts.chart : chartsTexts.table}
        </ActionButton>
      </div>
      {failed && <p className="chart-failed">{chartsTexts.failed}</p>}
      {shownAsTable ? (
        <ChartTable title={title} head={head} texts={texts} rows={rows} />
      ) : (
        <div role="img" aria-label={summary} className="chart-picture">
          {!engine && <span className="chart-loading">{chartsTexts.loading}</span>}
          <div ref={box} style={{ height }} />
        </div>
      )}
    </figure>
  );
}

interface PickEvent {
  readonly dataIndex?: number;
  readonly seriesId?: string;
}

/** ECharts, fetched when the first chart is drawn. */
function useEngine(): { engine: Engine | null; failed: boolean } {
  const [state, setState] = useState<{ engine: Engine | null; failed: boolean }>({
    engine: null,
    failed: false,
  });
  useEffect(() => {
    let gone = false;
    import("./engine").then(
      (engine) => gone || setState({ engine, failed: false }),
      () => gone || setState({ engine: null, failed: true }),
    );
    return () => {
      gone = true;
    };
  }, []);
  return state;
}

/** A chart that lives as long as its box and has its size. */
function useInstance(engine: Engine | null, hidden: boolean) {
  const box = useRef<HTMLDivElement>(null);
  const [chart, setChart] = useState<Instance | null>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (!engine || !element || hidden) return;
    const instance = engine.init(element);
    const observer = new ResizeObserver(() => {
      instance.resize();
      setWidth(element.clientWidth);
    });
    observer.observe(element);
    setChart(instance);
    setWidth(element.clientWidth);
    return () => {
      observer.disconnect();
      instance.dispose();
      setChart(null);
    };
  }, [engine, hidden]);
  return { box, chart, width };
}

function savePicture(
  engine: Engine,
  chart: Instance,
  box: HTMLElement,
  build: ChartProps["build"],
  title: string,
  kind: "png" | "svg",
): void {
  const theme = readTheme(box);
  if (kind === "svg") {
    const option = { ...build(theme, box.clientWidth), backgroundColor: theme.surface };
    const svg = engine.drawSvg(option, box.clientWidth, box.clientHeight);
    saveFile(`${title}.svg`, new Blob([svg], { type: "image/svg+xml" }));
    return;
  }
  chart
    .renderToCanvas({ pixelRatio: 2, backgroundColor: theme.surface })
    .toBlob((png) => png && saveFile(`${title}.png`, png), "image/png");
}
