import { type ReactNode, useEffect, useRef, useState } from 'react';

import { announce } from '../components/announcer';
import { Icon, type IconName } from '../components/icon';
import { useNow } from '../components/use-now';
import { durationText, timeText } from '../formats';
import { useLiveState } from '../live/use-live';

/** Says since when the service has not answered, and for a while that it is back. What was loaded stays on the page. */
export function AwayBar(): ReactNode {
  const { kind, since } = useLiveState();
  const returnedAt = useReturn();
  if (kind === 'away') return <Away since={since} />;
  if (returnedAt === undefined) return null;
  return (
    <Bar icon="check" colour="text-completed">
      The service is back since {timeText(new Date(returnedAt))}, and the view was fetched again.
    </Bar>
  );
}

const SHOWN_MS = 15_000;

/** Returns when the service came back, for a while. */
function useReturn(): number | undefined {
  const { kind, since } = useLiveState();
  const [returnedAt, setReturnedAt] = useState<number>();
  const wasAway = useRef(false);
  useEffect(() => {
    if (kind === 'away') wasAway.current = true;
    if (kind !== 'live' || !wasAway.current) return;
    wasAway.current = false;
    setReturnedAt(since);
    announce('The service is back, and the view was fetched again');
  }, [kind, since]);
  useEffect(() => {
    if (returnedAt === undefined) return;
    const timer = setTimeout(() => setReturnedAt(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [returnedAt]);
  return returnedAt;
}

function Away({ since }: { since: number }): ReactNode {
  const forMs = Math.max(0, Math.floor((useNow() - since) / 1_000) * 1_000);
  return (
    <Bar role="alert" icon="warning" colour="text-failed">
      The service has not answered since {timeText(new Date(since))}
      <span aria-hidden> ({durationText(forMs)})</span>. What you see is from before; it is updated when the service is
      back.
    </Bar>
  );
}

interface BarProps {
  icon: IconName;
  colour: string;
  role?: 'alert';
  children: ReactNode;
}

function Bar({ icon, colour, role, children }: BarProps): ReactNode {
  return (
    <div role={role} className="flex items-center gap-2 border-b border-line bg-raised px-4 py-1.5 text-table lg:px-6">
      <Icon name={icon} className={colour} />
      <p>{children}</p>
    </div>
  );
}
