import { useSyncExternalStore } from 'react';

import type { LiveEvent } from './messages';
import { onLive } from './use-live';

const MOST_EXECUTIONS = 200;
const MOST_CHARACTERS = 100_000;

/** The text that the model of one attempt has written. */
export interface ModelText {
  attempt: number;
  /** An attempt has several if the model calls tools or must correct its answer. */
  answers: readonly { answer: number; text: string }[];
  /** Whether it was heard from its beginning, without an interruption. */
  isWhole: boolean;
}

/** By execution, the one heard last at the end. The service does not store these texts. */
const texts = new Map<string, ModelText>();

const listeners = new Set<() => void>();

/** Texts are kept for all executions from the first import on, so that selecting one shows what was heard before. */
onLive((message) => {
  if (message.kind === 'resync') for (const [id, text] of texts) texts.set(id, { ...text, isWhole: false });
  if (message.kind === 'events') for (const event of message.events) hear(event);
  for (const listener of listeners) listener();
});

function hear({ event_type: type, ...event }: LiveEvent): void {
  if (!('execution_id' in event) || event.execution_id === undefined) return;
  const { execution_id: id, attempt = 0 } = event;
  if (type === 'execution_started') keep(id, { attempt, answers: [], isWhole: true });
  if (type !== 'execution_output') return;
  const known = texts.get(id);
  const before = known?.attempt === attempt ? known : { attempt, answers: [], isWhole: false };
  keep(id, extended(before, event.answer ?? 1, event.text ?? ''));
}

function extended({ attempt, answers, isWhole }: ModelText, answer: number, text: string): ModelText {
  const others = answers.filter((one) => one.answer !== answer);
  const all = (answers.find((one) => one.answer === answer)?.text ?? '') + text;
  return {
    attempt,
    answers: [...others, { answer, text: all.slice(-MOST_CHARACTERS) }],
    isWhole: isWhole && all.length <= MOST_CHARACTERS,
  };
}

function keep(id: string, text: ModelText): void {
  texts.delete(id);
  texts.set(id, text);
  const [oldest] = texts.keys();
  if (texts.size > MOST_EXECUTIONS && oldest !== undefined) texts.delete(oldest);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Returns the text that the model of the execution's newest attempt has written, as far as this tab has received it.
 */
export const useModelText = (id: string): ModelText | undefined => useSyncExternalStore(subscribe, () => texts.get(id));
