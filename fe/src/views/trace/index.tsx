/** The trace file, and the longest things in it. */
import { FilePanel } from "./FilePanel";
import { Slices } from "./Slices";
import "./trace.css";

export default function Trace() {
  return (
    <div className="trace">
      <FilePanel />
      <Slices />
    </div>
  );
}
