/**
 * How many steps there are and how they were found; behind that, how else to find them. In sight where somebody has
 * chosen that, and while there is no answer.
 */

import { type FormEvent, useEffect, useId, useRef, useState } from "react";
import type { Steps } from "../api";
import { count } from "../format";
import { dialogsTexts, overviewTexts, textFor } from "../i18n";
import { patternError, STEP_RULES, useStepParams, useTrace } from "../state";
import { Button, Combo, Popup } from "../ui";
import "./stepChoice.css";

const text = overviewTexts.stepChoice;
const PATTERN = "pattern";

interface Props {
  steps: Steps | undefined;
  /** The steps are those of another choice. */
  stale: boolean;
}

export function StepChoice({ steps, stale }: Props) {
  const [{ rule, pattern }, choose] = useStepParams();
  const { sel } = useTrace();
  // The field is asked for before there is a pattern to put into the address.
  const [asking, setAsking] = useState(false);
  const rules: readonly string[] = steps?.rules ?? STEP_RULES;
  const value =
    asking || pattern !== null ? PATTERN : rule !== null && rules.includes(rule) ? rule : "";
  const asked = sel?.step_pattern === undefined ? sel?.steps : PATTERN;
  const choice = (
    <>
      {steps && <FoundBy steps={steps} chosen={asked === steps.rule} />}
      {steps && !stale && asked !== undefined && asked !== steps.rule && (
        <span className="step-choice-bad">{text.notFound}</span>
      )}
      <Combo
        label={text.choose}
        value={value}
        options={[
          { value: "", label: text.automatic },
          ...rules.map((each) => ({ value: each, label: textFor(text.rules, each) ?? each })),
          { value: PATTERN, label: text.pattern },
        ]}
        onChange={(next) => {
          setAsking(next === PATTERN);
          if (next !== PATTERN) choose(next === "" ? {} : { rule: next });
        }}
      />
      {value === PATTERN && (
        <Pattern
          key={pattern ?? ""}
          pattern={pattern ?? ""}
          asked={asking}
          onChoose={(next) => {
            setAsking(false);
            choose(next === "" ? {} : { pattern: next });
          }}
        />
      )}
    </>
  );
  return (
    <section className="step-choice" aria-label={text.foundBy}>
      {steps && value === "" ? (
        <Popup label={labelOf(steps)}>{() => <div className="step-choice">{choice}</div>}</Popup>
      ) : (
        choice
      )}
    </section>
  );
}

/** "5 steps (ProfilerStep marks)". */
function labelOf({ rule, names }: Steps): string {
  return (
    textFor(dialogsTexts.noStepMarks, rule) ??
    text.label(count(names.length), textFor(dialogsTexts.stepRules, rule) ?? rule)
  );
}

interface FoundByProps {
  steps: Steps;
  /** The user wants them so, whatever marks there are. */
  chosen: boolean;
}

function FoundBy({ steps: { rule, names }, chosen }: FoundByProps) {
  const without = textFor(dialogsTexts.noStepMarks, rule);
  if (without !== undefined && !chosen) return <strong>{without}</strong>;
  return (
    <span>
      {text.foundBy} <strong>{textFor(dialogsTexts.stepRules, rule) ?? rule}</strong>{" "}
      <span className="muted num">({text.count(count(names.length))})</span>
    </span>
  );
}

interface PatternProps {
  pattern: string;
  /** The person has just asked for the field. */
  asked: boolean;
  onChoose: (pattern: string) => void;
}

function Pattern({ pattern, asked, onChoose }: PatternProps) {
  const [draft, setDraft] = useState(pattern);
  const id = useId();
  const wrong = patternError(draft);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (asked) field.current?.focus();
  }, [asked]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (wrong === null) onChoose(draft);
  };
  return (
    <form className="step-choice-field" onSubmit={submit}>
      <label htmlFor={id}>{text.patternLabel}</label>
      <input
        id={id}
        className="step-choice-pattern"
        ref={field}
        placeholder={text.patternHint}
        title={text.patternHint}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={wrong !== null}
        aria-describedby={wrong === null ? undefined : `${id}-wrong`}
        value={draft}
        onChange={(event) => setDraft(event.target.value)}
      />
      <Button type="submit" disabled={wrong !== null || draft === pattern}>
        {text.apply}
      </Button>
      {wrong !== null && (
        <span className="step-choice-bad" id={`${id}-wrong`} role="status">
          {text.invalid(wrong)}
        </span>
      )}
    </form>
  );
}
