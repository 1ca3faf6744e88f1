import type { ReactNode } from 'react';

import { jsonText } from '../formats';
import { CopyButton } from './copy';
import { LongText } from './long-text';

/** A value as indented JSON, with a button that copies it. */
export function JsonBlock({ label, value }: { label: string; value: unknown }): ReactNode {
  const text = jsonText(value, 2);
  return (
    <div className="relative">
      <pre
        tabIndex={0}
        role="region"
        aria-label={label}
        className="max-h-72 overflow-auto rounded-md bg-raised p-2 pr-8 font-mono text-label whitespace-pre-wrap"
      >
        <LongText text={text} />
      </pre>
      <span className="absolute top-1 right-1">
        <CopyButton text={() => text} label={`Copy ${label}`} />
      </span>
    </div>
  );
}
