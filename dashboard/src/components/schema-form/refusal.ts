import type { ErrorSchema } from '@rjsf/utils';

/** A violation behind the place of its payload. */
const VIOLATION = /^((?:\.[^\s."'[\]]+|\[(?:\d+|"(?:[^"\\]|\\.)*")\])*): (.*)$/s;

const STEP = /\.([^\s."'[\]]+)|\[(\d+|"(?:[^"\\]|\\.)*")\]/g;

/**
 * Returns the violations in the service's refusal of a request, each at its field. `place` is the payload's place in the
 * request, such as `inputs[1].payload`.
 */
export function refusalOf(message: string, place = 'payload'): ErrorSchema {
  // Each begins the message, or is behind the one before.
  const between = new RegExp(`(?:^|: |; )(?=${place.replaceAll(/[[\].]/g, '\\$&')}[.[:])`);
  const refused: ErrorSchema = {};
  for (const part of message.split(between)) {
    if (!part.startsWith(place)) continue;
    const [, path, text] = VIOLATION.exec(part.slice(place.length)) ?? [];
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
