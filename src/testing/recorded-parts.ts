import type { JsonObject } from '../common/json.js';

/**
 * Passes the parts of a model's answer on, and calls `complete` with those that a recording keeps when the answer is
 * complete. Raw chunks and times are left out, and pieces of a text are joined.
 */
export function recordedParts<Part extends { type: string }>(
  complete: (parts: JsonObject[]) => void,
): TransformStream<Part, Part> {
  const parts: JsonObject[] = [];
  return new TransformStream({
    transform(part, controller) {
      keep(part, parts);
      controller.enqueue(part);
    },
    flush() {
      if (parts.some(({ type }) => type === 'finish') && !parts.some(({ type }) => type === 'error')) complete(parts);
    },
  });
}

function keep(part: { type: string }, parts: JsonObject[]): void {
  if (part.type === 'raw') return;
  const one = JSON.parse(JSON.stringify(part)) as JsonObject;
  delete one.timestamp;
  const last = parts.at(-1);
  if (last && typeof last.delta === 'string' && last.type === one.type && last.id === one.id)
    last.delta += one.delta as string;
  else parts.push(one);
}
