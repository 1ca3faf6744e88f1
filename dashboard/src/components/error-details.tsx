import type { ReactNode } from 'react';

interface ErrorDetailsProps {
  cause?: string;
  stack?: string;
}

/** The frames of an error in the agents' files, and its causes. The service has them with `error_stacks`. */
export function ErrorDetails({ cause, stack }: ErrorDetailsProps): ReactNode {
  if (cause === undefined && stack === undefined) return null;
  return (
    <div className="pt-1 font-mono text-label break-words whitespace-pre-wrap text-muted">
      {stack}
      {cause !== undefined && (
        <p>
          Caused by
          <br />
          {cause}
        </p>
      )}
    </div>
  );
}
