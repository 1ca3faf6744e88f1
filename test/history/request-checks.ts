import type { Answered, Asked, End, Look } from './entry.ts';
import { answerOf, answers, type History, type Operation, requestsByKey } from './operations.ts';

/** Checks that what was acknowledged exists from then on, under the ids in the answers, and what was refused does not. */
export function requestBreaches(history: History): string[] {
  const end = answerOf<End>(history, 'end');
  const stored = new Set([...end.artifacts, ...end.batches].map(({ request }) => request));
  const requests = requestsByKey(history);
  return [
    ...[...requests].flatMap(([key, sent]) => [
      ...lost(key, sent, stored),
      ...idsOf(key, sent, end),
      ...answeredTwice(key, sent),
    ]),
    ...[...stored].filter((key) => !requests.has(key)).map((key) => `${key} exists, and was never requested`),
    ...lostForATime(history, requests),
    ...cancelBreaches(history, end),
  ];
}

const answered = (sent: readonly Operation[]): (Operation & { answer: Answered })[] =>
  sent.filter(({ outcome }) => outcome === 'ok') as (Operation & { answer: Answered })[];

function lost(key: string, sent: readonly Operation[], stored: ReadonlySet<string>): string[] {
  if (answered(sent).length > 0 && !stored.has(key)) return [`${key} was acknowledged and is lost`];
  if (sent.every(({ outcome }) => outcome === 'fail') && stored.has(key)) return [`${key} was refused and exists`];
  return [];
}

/** Answers to one idempotency key are the same bytes, and one of them at most is that of the request that did it. */
function answeredTwice(key: string, sent: readonly Operation[]): string[] {
  const all = answered(sent.filter(({ asked }) => (asked as Asked).idempotency_key !== null)).map(
    ({ answer }) => answer,
  );
  const fresh = all.filter(({ replayed }) => !replayed).length;
  return [
    ...(new Set(all.map(({ text }) => text)).size > 1 ? [`${key} was answered differently`] : []),
    ...(fresh > 1 ? [`${key} was done ${fresh} times, say its answers`] : []),
  ];
}

/** The ids in the answers are those that are stored, once each. */
function idsOf(key: string, sent: readonly Operation[], { runs, batches }: End): string[] {
  const bodies = answered(sent).map(({ answer }) => JSON.parse(answer.text) as { run_id?: string; batch_id?: string });
  const stored = (sent[0]!.name === 'batch' ? batches : runs).filter(({ request }) => request === key);
  return [
    ...(stored.length > 1 ? [`${key} exists ${stored.length} times`] : []),
    ...bodies
      .map(({ run_id, batch_id }) => run_id ?? batch_id)
      .filter((id) => id !== undefined && id !== stored[0]?.id)
      .map((id) => `${key} was acknowledged as ${id}, and is ${stored[0]?.id ?? 'lost'}`),
  ];
}

/** A snapshot that begins after an acknowledgement has what was acknowledged. */
function lostForATime(history: History, requests: ReadonlyMap<string, Operation[]>): string[] {
  const since = [...requests]
    .filter(([, [first]]) => first!.name !== 'batch')
    .map(([key, sent]) => [key, Math.min(...answered(sent).map(({ end }) => end))] as const);
  return answers<Look>(history, 'look').flatMap(({ answer, begin }) => {
    const seen = new Set(answer.correlations.map(({ request }) => request));
    return since
      .filter(([key, time]) => time < begin && !seen.has(key))
      .map(([key, time]) => `${key} was acknowledged at ${time}, and missing at ${begin}`);
  });
}

/** A cancellation that was answered is so, and nothing else is cancelled. */
function cancelBreaches({ operations }: History, { correlations }: End): string[] {
  const cancels = Map.groupBy(
    operations.filter(({ name }) => name === 'cancel'),
    ({ key }) => key,
  );
  const states = new Map(correlations.map(({ request, state }) => [request, state]));
  return [
    ...[...cancels]
      .filter(([key, sent]) => answered(sent).length > 0 && states.get(key) !== 'cancelled')
      .map(([key]) => `the cancellation of ${key} was acknowledged, and it is ${states.get(key)}`),
    ...[...states]
      .filter(([key, state]) => state === 'cancelled' && !cancels.get(key)?.some(({ outcome }) => outcome !== 'fail'))
      .map(([key]) => `${key} is cancelled without a request`),
  ];
}
