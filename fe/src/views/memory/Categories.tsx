/** What memory is for, by the part of the step in which it is allocated and released. */
import { useMemo } from "react";
import { useTraceQuery } from "../../api";
import type { DeviceCategories } from "../../api/schema.gen";
import { StackedBars } from "../../charts";
import { momentIn } from "../../draw";
import { partColor } from "../../draw/parts";
import { bytes, count, fraction } from "../../format";
import { memoryTexts as text } from "../../i18n";
import { useTrace } from "../../state";
import { ListTable } from "../../table";
import { Link, QueryPanel } from "../../ui";
import { openMoment } from "./useLook";

const HEIGHT = 220;

export function CategoriesPanel({ device }: { readonly device: string | null }) {
  const { sel } = useTrace();
  const query = useTraceQuery("memory/categories", sel);
  return (
    <QueryPanel
      title={text.categories.title}
      help={text.categories.help}
      query={query}
      empty={({ devices }) => (devices.length === 0 ? { reason: text.categories.none } : null)}
    >
      {({ devices }) => {
        const shown = devices.find((each) => each.device === device) ?? devices[0];
        return shown && <OfDevice found={shown} />;
      }}
    </QueryPanel>
  );
}

function OfDevice({ found }: { readonly found: DeviceCategories }) {
  const { categories, time_ns: times, peak } = found;
  const x = useMemo(() => {
    const window = { start: times[0] ?? 0, end: times.at(-1) ?? 1 };
    return times.map((time) => momentIn(time, window));
  }, [times]);
  const series = useMemo(
    () =>
      categories.map(({ category, bytes: values }) => ({
        key: category,
        label: text.categories.names[category],
        color: partColor(`memory.${category}`),
        values,
      })),
    [categories],
  );
  const largest = [...categories].sort((a, b) => b.at_peak - a.at_peak);
  return (
    <>
      {!found.phases && <p className="muted">{text.categories.noPhases}</p>}
      <StackedBars
        title={text.categories.title}
        height={HEIGHT}
        x={x}
        times={times}
        xLabel={text.table.time}
        series={series}
        mode="absolute"
        unit="bytes"
        onPick={(at) => openMoment(times[at] ?? null, true)}
      />
      <ListTable
        caption={text.categories.atPeak(bytes(peak))}
        heads={text.categories.columns}
        help={text.categories.columnsHelp}
        rows={largest}
        columns={[
          { cell: ({ category }) => text.categories.names[category] },
          {
            cell: ({ at_peak: size }) => (
              <Link title={text.categories.openPeak} onClick={() => openMoment(null, true)}>
                {bytes(size)}
              </Link>
            ),
          },
          { cell: ({ at_peak: size }) => fraction(peak > 0 ? size / peak : null) },
          {
            cell: ({ category, blocks }) => (category === "before_recording" ? "–" : count(blocks)),
          },
        ]}
      />
    </>
  );
}
