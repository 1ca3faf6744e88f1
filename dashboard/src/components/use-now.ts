import { useSyncExternalStore } from 'react';

let now = Date.now();
const listeners = new Set<() => void>();

setInterval(() => {
  if (document.hidden || listeners.size === 0) return;
  now = Date.now();
  for (const listener of listeners) listener();
}, 1_000);

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) now = Date.now();
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The time in ms, which advances every second. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);
