import { useMatches, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { Icon, type IconName } from '../components/icon';
import { Place } from '../components/place';
import { shortId } from '../formats';
import { useLiveState } from '../live/use-live';
import { type View, views } from '../views';
import { setTheme, type Theme, useTheme } from './theme';

export function Header({ openPalette }: { openPalette: () => void }): ReactNode {
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line bg-surface px-4 lg:px-6">
      <Path />
      <LiveIndicator />
      <button type="button" className="button" onClick={openPalette} aria-keyshortcuts="Control+K">
        <Icon name="search" />
        <span className="max-sm:sr-only">Search</span>
        <kbd aria-hidden className="hidden font-sans text-label text-muted lg:inline">
          Ctrl K
        </kbd>
      </button>
      <ThemeSwitch />
    </header>
  );
}

/** The path of the view: the list, and the item that is open. */
function Path(): ReactNode {
  const routeId = useMatches().at(-1)?.fullPath as string | undefined;
  const params: Record<string, string> = useParams({ strict: false });
  const view = views.find(({ path }) => path === routeId);
  const list = views.find(({ path }) => path !== '/' && path !== routeId && routeId?.startsWith(`${path}/`));
  const one = Object.values(params)[0];
  return (
    <nav aria-label="Path" className="min-w-0 flex-1 truncate text-table">
      <ol className="flex items-center gap-1.5">
        {list && (
          <li className="flex items-center gap-1.5">
            <Place to={list.path} className="text-muted hover:text-text">
              {list.title}
            </Place>
            <Icon name="right" className="size-3 text-muted" />
          </li>
        )}
        <li aria-current="page" title={one} className={`truncate ${one === undefined ? '' : 'font-mono text-label'}`}>
          {one === undefined ? titleOf(view) : shortId(one)}
        </li>
      </ol>
    </nav>
  );
}

const titleOf = (view: View | undefined): string => view?.title ?? '';

const LIVE = {
  live: { colour: 'text-completed', icon: 'dot', word: 'Live', about: 'Changes appear as they happen' },
  connecting: { colour: 'text-waiting', icon: 'ring', word: 'Connecting', about: 'Connecting to the service' },
  away: { colour: 'text-failed', icon: 'cross', word: 'Away', about: 'The service does not answer' },
} as const;

function LiveIndicator(): ReactNode {
  const { colour, icon, word, about } = LIVE[useLiveState().kind];
  return (
    <span title={about} className={`inline-flex items-center gap-1 px-1 text-label ${colour}`}>
      <Icon name={icon} />
      <span className="max-sm:sr-only">{word}</span>
    </span>
  );
}

const THEMES: Record<Theme, { icon: IconName; text: string; next: Theme }> = {
  '': { icon: 'system', text: 'Theme of the system', next: 'light' },
  light: { icon: 'light', text: 'Light theme', next: 'dark' },
  dark: { icon: 'dark', text: 'Dark theme', next: '' },
};

function ThemeSwitch(): ReactNode {
  const { icon, text, next } = THEMES[useTheme()];
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={`${text}; change it`}
      title={text}
      onClick={() => setTheme(next)}
    >
      <Icon name={icon} />
    </button>
  );
}
