import type { ReactNode } from 'react';

import { Icon } from '../components/icon';
import { useNow } from '../components/use-now';
import { durationText, timeText } from '../formats';
import { useLiveState } from '../live/use-live';

/** Says since when the service has not answered. What was loaded stays on the page. */
export function AwayBar(): ReactNode {
  const { kind, since } = useLiveState();
  return kind === 'away' ? <Away since={since} /> : null;
}

function Away({ since }: { since: number }): ReactNode {
  const forMs = Math.max(0, Math.floor((useNow() - since) / 1_000) * 1_000);
  return (
    <div role="alert" className="flex items-center gap-2 border-b border-line bg-raised px-4 py-1.5 text-table lg:px-6">
      <Icon name="warning" className="text-failed" />
      <p>
        The service has not answered since {timeText(new Date(since))}
        <span aria-hidden> ({durationText(forMs)})</span>. What you see is from before; it is updated when the service
        is back.
      </p>
    </div>
  );
}
