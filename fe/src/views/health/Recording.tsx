import type { Health } from "../../api";
import { bytes, count, duration, moment } from "../../format";
import { captureTexts, dialogsTexts, textFor } from "../../i18n";
import { goToView, useStepParams } from "../../state";
import { Facts, Panel } from "../../ui";

const text = captureTexts.recording;

export function Recording({ health: { meta, capture }, file }: { health: Health; file: string }) {
  const rule = textFor(dialogsTexts.stepRules, capture.step_rule) ?? capture.step_rule;
  const [{ rule: chosen }] = useStepParams();
  const without =
    chosen === capture.step_rule ? undefined : textFor(dialogsTexts.noStepMarks, capture.step_rule);
  const steps = without ?? text.stepsFound(count(capture.steps), rule);
  return (
    <Panel className="area-recording" title={text.title}>
      <Facts
        facts={[
          { name: text.file, value: file },
          { name: text.size, value: bytes(capture.bytes) },
          { name: text.text, value: bytes(capture.text_bytes) },
          { name: text.events, value: count(capture.events) },
          {
            name: text.recordedAt,
            value: capture.recorded_at ? moment(capture.recorded_at) : text.unknownTime,
          },
          {
            name: text.range,
            value: duration(capture.duration_ns),
            help: text.rangeHelp,
            onOpen: () => goToView("trace", null, { window: null }),
          },
          {
            name: text.tracks,
            value: count(capture.tracks),
            help: text.tracksHelp,
            onOpen: () => goToView("trace"),
          },
          { name: text.steps, value: steps, onOpen: () => goToView("steps", null, { filter: "" }) },
          { name: text.deviceType, value: meta.device_type },
          { name: text.host, value: capture.host_name ?? text.unknownHost },
        ]}
      />
    </Panel>
  );
}
