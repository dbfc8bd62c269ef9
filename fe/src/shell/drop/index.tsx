/** Files from elsewhere, which the stand-alone server reads as a run: dragged onto the page, or chosen. */
import type { QueryClient } from "@tanstack/react-query";
import { createRoot } from "react-dom/client";
import { STATUS_KEY } from "../../api/queries";
import { settleAreas } from "../../i18n";
import { selectTrace } from "../../state";

/** From now on what is dragged onto the page is taken. `now`: such a thing is above it already. */
export function takeDropped(client: QueryClient, now: boolean): void {
  void mount(client, (of) => ({ ...of, listens: true, above: now, files: [] }));
}

/** Has a person choose files. */
export function chooseFiles(client: QueryClient): void {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.onchange = () => {
    const files = [...(input.files ?? [])];
    void mount(client, (of) => ({ ...of, listens: false, above: false, files }));
  };
  input.click();
}

type Props = import("./DropZone").Props;
type PropsOf = (of: Pick<Props, "opened" | "ended">) => Props;

async function mount(client: QueryClient, props: PropsOf): Promise<void> {
  await settleAreas();
  const { DropZone } = await import("./DropZone");
  const place = document.createElement("div");
  document.body.append(place);
  const opened = async (run: string) => {
    // The run is in the status before the page looks for it.
    await client.invalidateQueries({ queryKey: STATUS_KEY });
    selectTrace({ run });
  };
  const root = createRoot(place);
  const ended = () => {
    root.unmount();
    place.remove();
  };
  root.render(<DropZone {...props({ opened, ended })} />);
}
