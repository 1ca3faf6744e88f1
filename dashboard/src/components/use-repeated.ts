import { useEffect, useRef } from 'react';

/** Calls `run` again and again while the page is visible. Never, if `everyMs` is undefined. */
export function useRepeated(run: () => void, everyMs: number | undefined): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => document.hidden || latest.current(), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
