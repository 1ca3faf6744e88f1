import type { UserFrames } from './user-frames.js';

/** The origin of an error. Both texts have at most 4,096 characters. */
export interface ErrorDetails {
  /** The causes of the error, the nearest first: one line each with name and message, and their frames. Null for none. */
  cause: string | null;
  /** The frames of the error in the user's files, one a line. Null for none. */
  stack: string | null;
}

const MOST_CAUSES = 5;
const LONGEST_TEXT = 4_096;
const LONGEST_MESSAGE = 1_000;

/** Describes anything that was thrown. Agents throw errors whose getters throw. */
export function errorDetails(thrown: unknown, frames: UserFrames): ErrorDetails {
  const causes = causesOf(thrown).map((cause) => [titleOf(cause), ...framesOf(cause, frames)].join('\n    '));
  return { cause: bounded(causes), stack: bounded(framesOf(thrown, frames)) };
}

/** Returns the text that Node prints for such an error. */
export function describeDetails(title: string, { cause, stack }: ErrorDetails): string {
  const frames = stack === null ? '' : `\n    ${stack.replaceAll('\n', '\n    ')}`;
  return `${title}${frames}${cause === null ? '' : `\ncaused by: ${cause.replaceAll(/\n(?! |\.{3}$)/g, '\ncaused by: ')}`}`;
}

function causesOf(thrown: unknown): unknown[] {
  const seen = [thrown];
  while (seen.length <= MOST_CAUSES) {
    const cause = causeOf(seen.at(-1));
    if (cause === undefined || cause === null || seen.includes(cause)) break;
    seen.push(cause);
  }
  return seen.slice(1);
}

/** An AggregateError, such as that of a connection to several addresses, has a list instead of a cause. */
const causeOf = (thrown: unknown): unknown =>
  read(() => (thrown as Error).cause) ?? read(() => (thrown as AggregateError).errors[0] as unknown);

function titleOf(cause: unknown): string {
  if (typeof cause !== 'object') return oneLine(String(cause));
  const name = textOf(() => (cause as Error).name) ?? 'Error';
  // Errors of connections may have a code only.
  const message = textOf(() => (cause as Error).message) ?? textOf(() => (cause as NodeJS.ErrnoException).code);
  return oneLine(message === null ? name : `${name}: ${message}`);
}

const oneLine = (text: string): string => text.slice(0, LONGEST_MESSAGE).replaceAll(/\s*\n\s*/g, ' ');

const framesOf = (thrown: unknown, frames: UserFrames): string[] =>
  frames.of({
    stack: textOf(() => (thrown as Error).stack) ?? '',
    message: textOf(() => (thrown as Error).message) ?? '',
  });

function bounded(lines: string[]): string | null {
  const text = lines.join('\n');
  if (text.length <= LONGEST_TEXT) return text || null;
  return `${text.slice(0, LONGEST_TEXT - 4)}\n...`;
}

const textOf = (from: () => unknown): string | null => {
  const text = read(from);
  return typeof text === 'string' && text !== '' ? text : null;
};

function read(from: () => unknown): unknown {
  try {
    return from();
  } catch {
    return undefined;
  }
}
