import type {
  TraceBody,
  TracedAttemptBody,
  TracedExecutionBody,
} from '../../../features/correlations/dto/trace-body.js';

const MOST_NAMED = 3;

/** ` with Intent and 2 others`: the inputs of an execution besides the one above it. */
export function inputsOf({ inputs }: TracedExecutionBody, { artifacts }: TraceBody): string {
  if (inputs.length < 2) return '';
  const given = artifacts.filter(({ id }) => inputs.includes(id)).map(({ type }) => type);
  const others = given.slice(0, -1);
  const named = others.slice(0, MOST_NAMED);
  // Inputs of other correlations are not in the trace.
  const rest = inputs.length - 1 - named.length;
  if (rest > 0) named.push(rest === 1 ? '1 other' : `${rest} others`);
  return ` with ${named.join(' and ')}`;
}

/** The name of an agent's own options in the API. */
const BASE = 'base';

/**
 * The artifact that cancelled an execution or took the place of its input, the execution whose answer it took or for which
 * it did not run, and the variant of its agent.
 */
export function originsOf({
  cancelled_by,
  cached_from,
  skipped_for,
  superseded_by,
  variant = BASE,
}: TracedExecutionBody): string[] {
  return [
    ...(cancelled_by === undefined ? [] : [`cancelled by the artifact ${cancelled_by}`]),
    ...(cached_from === undefined ? [] : [`with the answer of the execution ${cached_from}`]),
    ...(skipped_for === undefined ? [] : [`skipped for the execution ${skipped_for}`]),
    ...(superseded_by === undefined ? [] : [`superseded by the artifact ${superseded_by}`]),
    ...(variant === BASE ? [] : [`with the variant ${variant}`]),
  ];
}

/** The errors of an execution, one line for equal ones in a row. */
export function errorsOf({ attempts, error_type, error_message, truncated }: TracedExecutionBody): string[] {
  const failed = attempts.filter((attempt) => attempt.error_type !== null);
  const groups: TracedAttemptBody[][] = [];
  for (const attempt of failed) {
    const group = groups.at(-1);
    if (group && textOf(group[0]!) === textOf(attempt)) group.push(attempt);
    else groups.push([attempt]);
  }
  const lines = groups.map((group) =>
    failed.length === 1 && attempts.length === 1 ? textOf(group[0]!) : `${numbersOf(group)}: ${textOf(group[0]!)}`,
  );
  const last = error_type === null ? null : textOf({ error_type, error_message });
  const isListed = !truncated && failed.some((attempt) => textOf(attempt) === last);
  return last === null || isListed ? lines : [...lines, last];
}

const textOf = ({ error_type, error_message }: Pick<TracedAttemptBody, 'error_type' | 'error_message'>): string =>
  `${error_type}: ${error_message}`;

function numbersOf(attempts: readonly TracedAttemptBody[]): string {
  const [first, last] = [attempts[0]!, attempts.at(-1)!];
  const number = ({ round, attempt }: TracedAttemptBody): string =>
    round === 0 ? `${attempt}` : `${attempt} of retry ${round}`;
  return first === last ? `attempt ${number(first)}` : `attempts ${number(first)} to ${number(last)}`;
}
