import { Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useLayoutEffect, useRef, useState } from 'react';

import { Announcer } from '../components/announcer';
import { AwayBar } from './away-bar';
import { Header } from './header';
import { Rail } from './rail';

const Palette = lazy(() => import('./palette'));

/** The frame around every view. */
export function Shell(): ReactNode {
  const [isPaletteOpen, setIsPaletteOpen] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  const main = useRef<HTMLElement>(null);
  // A key may be pressed as soon as the app is drawn.
  useLayoutEffect(() => {
    const keyDown = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      setIsPaletteOpen(true);
    };
    document.addEventListener('keydown', keyDown);
    return () => document.removeEventListener('keydown', keyDown);
  }, []);
  // The element that had the focus may be gone with the view before.
  useEffect(() => {
    if (document.activeElement === document.body) main.current?.focus({ preventScroll: true });
  }, [path]);
  return (
    <div className="flex h-full flex-col-reverse sm:flex-row">
      <a href="#main" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-surface focus:p-2">
        Skip to the content
      </a>
      <Rail />
      <div className="flex min-h-0 min-w-0 flex-1 flex-col">
        <Header openPalette={() => setIsPaletteOpen(true)} />
        <AwayBar />
        <main ref={main} id="main" key={path} tabIndex={-1} className="min-h-0 flex-1 overflow-auto outline-none">
          <Outlet />
        </main>
      </div>
      <Announcer />
      {isPaletteOpen && (
        <Suspense>
          <Palette close={() => setIsPaletteOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}
