import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { useLayout } from "./Flame";
import type { FlameEntries } from "./types";
import { ZoomedFlame } from "./ZoomedFlame";

const NAMES = ["main", "small", "large", "inner", "other"];
const entries: FlameEntries = {
  size: 5,
  parent: [-1, 0, 0, 2, -1],
  own: [10, 20, 10, 60, 100],
  label: (entry) => NAMES[entry] ?? "",
  name: (entry) => NAMES[entry] ?? "",
  kind: () => "frame",
  tooltip: (entry) => ({ title: NAMES[entry] ?? "", lines: [] }),
  spoken: (entry) => `${NAMES[entry]} spoken`,
};

function Harness({ onSelect = () => {} }: { onSelect?: (entry: number) => void }) {
  const layout = useLayout(entries, false);
  const [focus, setFocus] = useState(-1);
  return (
    <ZoomedFlame
      title="Stacks"
      entries={entries}
      layout={layout}
      focus={focus}
      onFocus={setFocus}
      selected={-1}
      onSelect={onSelect}
      hits={null}
    />
  );
}

afterEach(cleanup);

const flame = () => screen.getByRole("application", { name: "Stacks" });
const press = (key: string) => fireEvent.keyDown(flame(), { key });
const spoken = () => screen.getByRole("status").textContent;
const where = () => document.querySelector("[aria-current=location]")?.textContent;

describe("Flame", () => {
  it("can be walked, zoomed and left by keys alone", () => {
    const onSelect = vi.fn();
    render(<Harness onSelect={onSelect} />);
    expect(where()).toBe("Everything");
    press("ArrowDown");
    expect(spoken()).toBe("main spoken");
    press("ArrowDown");
    expect(spoken()).toBe("large spoken");
    press("ArrowLeft");
    expect(spoken()).toBe("small spoken");
    press("ArrowRight");
    press("Enter");
    expect(where()).toBe("large");
    expect(onSelect).toHaveBeenCalledWith(2);
    press("ArrowLeft");
    expect(spoken()).toBe("large spoken");
    press("Escape");
    expect(where()).toBe("main");
    press("Home");
    expect(where()).toBe("Everything");
  });

  it("leaves Escape to others when nothing is zoomed", () => {
    render(<Harness />);
    expect(press("Escape")).toBe(true);
    press("ArrowDown");
    press("Enter");
    expect(press("Escape")).toBe(false);
  });

  it("leads out by its crumbs", () => {
    render(<Harness />);
    press("ArrowDown");
    press("ArrowDown");
    press("Enter");
    fireEvent.click(screen.getByRole("button", { name: "main" }));
    expect(where()).toBe("main");
    fireEvent.click(screen.getByRole("button", { name: "Everything" }));
    expect(where()).toBe("Everything");
  });
});
