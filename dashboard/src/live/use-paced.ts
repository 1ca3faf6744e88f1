import { useEffect, useMemo, useRef } from 'react';

import { PacedRun } from './pace';

/** Calls `run` after events, as `PacedRun` does. */
export function usePaced(run: () => unknown, everyMs: number): PacedRun {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  const paced = useMemo(() => new PacedRun(everyMs, () => latest.current()), [everyMs]);
  useEffect(() => () => paced.done(), [paced]);
  return paced;
}
