import { type ReactNode, useState } from 'react';

import { numberText } from '../formats';

const MOST_CHARACTERS = 5_000;

/** A text whose end is shown on request, because a browser needs seconds for the layout of a megabyte. */
export function LongText({ text }: { text: string }): ReactNode {
  const [isWhole, setIsWhole] = useState(false);
  if (isWhole || text.length <= MOST_CHARACTERS) return text;
  return (
    <>
      {text.slice(0, MOST_CHARACTERS)}…{' '}
      <button type="button" className="link min-h-6 font-sans" onClick={() => setIsWhole(true)}>
        Show all {numberText(text.length)} characters
      </button>
    </>
  );
}
