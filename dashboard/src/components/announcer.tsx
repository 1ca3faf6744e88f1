import { type ReactNode, useSyncExternalStore } from 'react';

const EVERY_MS = 5_000;

const listeners = new Set<() => void>();
let text = '';
let waiting: string | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

function say(): void {
  timer = undefined;
  if (waiting === undefined) return;
  text = waiting;
  waiting = undefined;
  timer = setTimeout(say, EVERY_MS);
  for (const listener of listeners) listener();
}

/** Says a text to screen readers. At most one is said every 5 s, and it is the newest. */
export function announce(next: string): void {
  waiting = next;
  if (timer === undefined) say();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** The only live region of the app. */
export function Announcer(): ReactNode {
  return (
    <div role="status" aria-live="polite" className="sr-only">
      {useSyncExternalStore(subscribe, () => text)}
    </div>
  );
}
