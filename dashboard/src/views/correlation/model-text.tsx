import type { ReactNode } from 'react';

import type { Schemas } from '../../api/requests';
import { useModelText } from '../../live/model-texts';

/**
 * Shows the text that the model writes while an attempt runs, and the text that it had written when an attempt failed.
 */
export function ModelText({ execution: { id, state } }: { execution: Schemas['ExecutionBody'] }): ReactNode {
  const heard = useModelText(id);
  // A completed execution has published what its model wrote.
  if (heard === undefined || heard.answers.length === 0 || state === 'completed') return null;
  const title = state === 'running' ? 'The model writes' : 'The model wrote';
  return (
    <section>
      <h3 className="pb-1 text-label text-muted">{title}</h3>
      {/* Reversed, so that the end stays in view while the text grows. */}
      <div
        role="region"
        aria-label={title}
        tabIndex={0}
        className="flex max-h-72 flex-col-reverse overflow-auto rounded-md bg-raised p-2"
      >
        <div className="flex flex-col gap-2">
          {heard.answers.map(({ answer, text }) => (
            <div key={answer}>
              {heard.answers.length > 1 && <p className="text-label text-muted">Answer {answer}</p>}
              <p className="font-mono text-label whitespace-pre-wrap">{text}</p>
            </div>
          ))}
        </div>
      </div>
      {!heard.isWhole && (
        <p className="pt-1 text-label text-muted">
          Parts from before may be missing: the text is shown as it comes, and not stored.
        </p>
      )}
    </section>
  );
}
