import type { ErrorSchema } from '@rjsf/utils';

/** Before each violation, behind the beginning of the message or the one before. */
const BETWEEN = /(?:^|: |; )(?=payload[.[:])/;

const VIOLATION = /^payload((?:\.[^\s."'[\]]+|\[(?:\d+|"(?:[^"\\]|\\.)*")\])*): (.*)$/s;

const STEP = /\.([^\s."'[\]]+)|\[(\d+|"(?:[^"\\]|\\.)*")\]/g;

/**
 * Returns the violations in the service's refusal of a request, each at its field. `place` is the payload's place in a
 * request with several, such as `inputs[1]`.
 */
export function refusalOf(message: string, place = ''): ErrorSchema {
  if (!message.startsWith(place)) return {};
  const refused: ErrorSchema = {};
  for (const part of message.split(BETWEEN)) {
    const [, path, text] = VIOLATION.exec(part) ?? [];
    if (path === undefined || text === undefined) continue;
    const field = stepsOf(path).reduce<Record<string, ErrorSchema>>(
      (at, step) => (at[step] ??= {}) as Record<string, ErrorSchema>,
      refused as Record<string, ErrorSchema>,
    ) as ErrorSchema;
    field.__errors = [...(field.__errors ?? []), text];
  }
  return refused;
}

const stepsOf = (path: string): string[] =>
  [...path.matchAll(STEP)].map(([, name, inBrackets]) => name ?? String(JSON.parse(inBrackets!)));
