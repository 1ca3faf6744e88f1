import type { End, Page, ReadAfter } from './entry.ts';
import { answerOf, answers, type History, type Operation } from './operations.ts';

/** Positions are unique, and a reader that continues from a position has missed nothing before it. */
export function positionBreaches(history: History): string[] {
  const artifacts = answerOf<End>(history, 'end').artifacts.toSorted((one, other) => one.position - other.position);
  const twice = artifacts.filter(({ position }, index) => artifacts[index + 1]?.position === position);
  const ids = Map.groupBy(artifacts, ({ id }) => id);
  return [
    ...twice.map(({ position }) => `position ${position} has several artifacts`),
    ...[...ids].filter(([, same]) => same.length > 1).map(([id, same]) => `artifact ${id} exists ${same.length} times`),
    ...answers<Page>(history, 'read').flatMap((read) => readBreaches(read, artifacts)),
  ];
}

/** A page has all that lies between its beginning and its last position. */
function readBreaches(
  { process, asked, answer, begin }: Operation & { answer: Page },
  artifacts: End['artifacts'],
): string[] {
  const { after } = asked as ReadAfter;
  const last = answer.entries.at(-1)?.[0] ?? after;
  const due = artifacts.filter(({ position }) => position > after && position <= last);
  const expected = due.map(({ position, id }) => `${position} ${id}`);
  const got = answer.entries.map(([position, id]) => `${position} ${id}`);
  if (expected.join() === got.join()) return [];
  const missed = expected.filter((one) => !got.includes(one));
  const surplus = got.filter((one) => !expected.includes(one));
  const what = [
    ...(missed.length > 0 ? [`missed ${missed.join(', ')}`] : []),
    ...(surplus.length > 0 ? [`got ${surplus.join(', ')}, which do not exist`] : []),
  ];
  return [`${process} read from ${after} on at ${begin} and ${what.join(', and ') || 'got its page out of order'}`];
}
