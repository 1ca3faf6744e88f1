import { type Entry, type OperationName, type RequestName, REQUESTS } from './entry.ts';

/** An operation from its `invoke` to its end. */
export interface Operation {
  name: OperationName;
  key: string;
  process: string;
  begin: number;
  /** Infinity if it has no end. */
  end: number;
  outcome: 'ok' | 'fail' | 'info';
  asked: unknown;
  answer: unknown;
}

/** The operations of a history, in the order of their beginnings, and how its entries break the format. */
export interface History {
  operations: Operation[];
  breaches: string[];
}

/** Throws an error that names the line if the text is not a history. */
export function readHistory(text: string): History {
  const history: History = { operations: [], breaches: [] };
  const open = new Map<string, Operation>();
  const lost = new Set<string>();
  for (const entry of entriesIn(text)) {
    const { time, process, type, operation: name, key, value } = entry;
    if (type === 'invoke') {
      if (open.has(process)) history.breaches.push(`${process} begins ${name} ${key} before its last operation ended`);
      if (lost.has(process)) history.breaches.push(`${process} continues with ${name} ${key} after an info`);
      const begun: Operation = {
        name,
        key,
        process,
        begin: time,
        end: Infinity,
        outcome: 'info',
        asked: value,
        answer: undefined,
      };
      open.set(process, begun);
      history.operations.push(begun);
      continue;
    }
    const begun = open.get(process);
    if (!begun || begun.name !== name || begun.key !== key) {
      history.breaches.push(`${process} ends ${name} ${key}, which it did not begin`);
      continue;
    }
    open.delete(process);
    if (type === 'info') lost.add(process);
    else if (time < begun.begin) history.breaches.push(`${process} ends ${name} ${key} before its beginning`);
    else Object.assign(begun, { end: time, outcome: type, answer: value });
  }
  history.operations.sort((one, other) => one.begin - other.begin);
  return history;
}

function* entriesIn(text: string): Generator<Entry> {
  for (const [index, line] of text.split('\n').entries()) {
    if (line === '') continue;
    let entry: Partial<Entry> | null;
    try {
      entry = JSON.parse(line) as Partial<Entry> | null;
    } catch {
      throw new Error(`line ${index + 1}: must be JSON`);
    }
    const isEntry =
      typeof entry?.time === 'number' &&
      typeof entry.process === 'string' &&
      ['invoke', 'ok', 'fail', 'info'].includes(entry.type!) &&
      typeof entry.operation === 'string' &&
      typeof entry.key === 'string';
    if (!isEntry) throw new Error(`line ${index + 1}: must have time, process, type, operation and key`);
    yield entry as Entry;
  }
}

/** Operations with that name which were answered, with their answers. */
export const answers = <T>({ operations }: History, name: OperationName): (Operation & { answer: T })[] =>
  operations.filter((one) => one.name === name && one.outcome === 'ok') as (Operation & { answer: T })[];

/** The one answer to an operation that a history has once. Throws an error if it is missing. */
export function answerOf<T>(history: History, name: OperationName): T {
  const found = answers<T>(history, name);
  if (found.length !== 1) throw new Error(`must have one answer to ${name} (got ${found.length})`);
  return found[0]!.answer;
}

const isRequest = (name: OperationName): name is RequestName => (REQUESTS as readonly string[]).includes(name);

/** The requests of clients, by their keys: each with all the times that it was sent. */
export const requestsByKey = ({ operations }: History): Map<string, Operation[]> =>
  Map.groupBy(
    operations.filter(({ name }) => isRequest(name)),
    ({ key }) => key,
  );
