import type { ReactNode } from 'react';

import { jsonText } from '../formats';

const MOST_CHARACTERS = 300;

/** A value as JSON on one line. What does not fit is cut off. */
export function JsonLine({ value }: { value: unknown }): ReactNode {
  return <span className="font-mono text-label text-muted">{lineOf(value)}</span>;
}

function lineOf(value: unknown): string {
  const text = jsonText(value);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
