import type { Correlation, End, Look } from './entry.ts';
import { answerOf, answers, type History } from './operations.ts';

/** Checks that a settled correlation stays as it is. No request of the load publishes into it, so none begins another generation. */
export function settlementBreaches(history: History): string[] {
  const last = new Map<string, Correlation>();
  const looks = answers<Look>(history, 'look').map(({ answer }) => answer.correlations);
  const changed = [...looks, answerOf<End>(history, 'end').correlations].flatMap((correlations) =>
    correlations.flatMap((now) => {
      const before = last.get(now.id);
      last.set(now.id, now);
      if (!before || before.settled_at === null) return [];
      if (before.state === now.state && before.settled_at === now.settled_at) return [];
      return [`${now.request} settled as ${text(before)}, and was ${text(now)} later`];
    }),
  );
  return [
    ...changed,
    ...[...last.values()]
      .filter(({ generation }) => generation !== 1)
      .map(({ request, generation }) => `${request} was opened ${generation} times`),
  ];
}

const text = ({ state, settled_at: time }: Correlation): string => `${state} (${time ?? 'not settled'})`;
