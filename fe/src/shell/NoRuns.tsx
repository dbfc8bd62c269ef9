/** Shown when there are no runs: where we looked, why that failed or what was found instead, how to record a trace. */
import type { Status } from "../api";
import { inTensorBoard } from "../host";
import { dialogsTexts, reasonText, t } from "../i18n";
import { Code, later } from "../ui";
import { fileRows } from "./progress";
import "./page.css";

const text = dialogsTexts.noRuns;
const FilesTable = later(() => import("./FilesTable"));

/** Records a trace into a directory. */
const snippet = (directory: string) => `import torch
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

with profile(
    activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
    schedule=schedule(wait=1, warmup=1, active=3, repeat=1),
    on_trace_ready=tensorboard_trace_handler(${JSON.stringify(directory)}),
    record_shapes=True,
    with_stack=True,
    profile_memory=True,
) as prof:
    for batch in loader:
        train_step(batch)
        prof.step()`;

export default function NoRuns({ status }: { status: Status }) {
  const rows = fileRows(status);
  const remote = status.logdir.includes("://");
  return (
    <div className="page">
      <h1>{status.error ? t.status.unlisted : status.scanning ? text.scanning : text.title}</h1>
      {!status.error && <p>{text.scanned}</p>}
      <p>
        <code>{status.logdir}</code>
      </p>
      {status.error && <p className="reason">{reasonText(status.error, status.why)}</p>}
      {rows.length > 0 && <FilesTable rows={rows} />}
      {!status.error && (
        <>
          {!inTensorBoard() && <p>{text.drop}</p>}
          <p>{remote ? text.howRemote : text.how}</p>
          <Code text={snippet(remote ? "./log" : status.logdir)} />
        </>
      )}
    </div>
  );
}
