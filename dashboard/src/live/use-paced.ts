import { useEffect, useRef, useState } from 'react';

import { PacedRun } from './pace';

/** Calls `run` after events, as `PacedRun` does. */
export function usePaced(run: () => unknown, everyMs: number): PacedRun {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  const [paced] = useState(() => new PacedRun(everyMs, () => latest.current()));
  useEffect(() => paced.every(everyMs), [paced, everyMs]);
  useEffect(() => () => paced.done(), [paced]);
  return paced;
}
