import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';

import { useAgents, useTypeNames } from '../api/catalog';
import { get } from '../api/requests';
import { Icon, type IconName } from '../components/icon';
import { isRegistered, type ViewPath, views } from '../views';
import type { Search } from './search';
import { setDenseRows, useDenseRows } from './theme';

interface Item {
  key: string;
  icon: IconName;
  text: string;
  /** The kind of the entry, such as "Agent". */
  kind: string;
  go: () => void;
}

const MOST_ITEMS = 50;

/** Jumps to a view, an agent, a type or an id. The focus stays in the field; arrows choose. */
export default function Palette({ close }: { close: () => void }): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const items = useItems(text.trim(), close);
  const current = Math.min(chosen, items.length - 1);
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  useEffect(() => {
    // Returns a promise in new browsers, which is not the clean-up that React expects.
    void document.getElementById(`${listId}-${current}`)?.scrollIntoView({ block: 'nearest' });
  });

  const keyDown = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') items[current]?.go();
    else if (step !== undefined) setChosen((current + step + items.length) % Math.max(1, items.length));
    else return;
    event.preventDefault();
  };

  return (
    <dialog
      ref={dialog}
      aria-label="Search"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
      className="mx-auto mt-[10vh] w-full max-w-140 overflow-hidden rounded-md border border-line bg-surface p-0 shadow-overlay"
    >
      <div className="flex items-center gap-2 border-b border-line px-3">
        <Icon name="search" className="text-muted" />
        <input
          autoFocus
          role="combobox"
          aria-label="View, agent, type or id"
          aria-expanded={items.length > 0}
          aria-controls={listId}
          aria-activedescendant={items.length > 0 ? `${listId}-${current}` : undefined}
          placeholder="View, agent, type or id"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setChosen(0);
          }}
          onKeyDown={keyDown}
          className="h-11 flex-1 bg-transparent outline-none placeholder:text-muted"
        />
      </div>
      <div id={listId} role="listbox" aria-label="Results" className="max-h-[50vh] overflow-auto p-1">
        {items.map(({ key, icon, text: name, kind, go }, index) => (
          <div
            key={key}
            id={`${listId}-${index}`}
            role="option"
            aria-selected={index === current}
            onClick={go}
            onPointerMove={() => setChosen(index)}
            className={`flex h-9 cursor-pointer items-center gap-2.5 rounded-md px-2 text-table ${index === current ? 'bg-selected' : ''}`}
          >
            <Icon name={icon} className="text-muted" />
            <span className="flex-1 truncate">{name}</span>
            <span className="text-label text-muted">{kind}</span>
          </div>
        ))}
      </div>
      {items.length === 0 && <p className="px-4 pt-2 pb-4 text-table text-muted">Nothing has this name or id.</p>}
    </dialog>
  );
}

function useItems(text: string, close: () => void): Item[] {
  const navigate = useNavigate();
  const agents = useAgents();
  const types = useTypeNames();
  const isDense = useDenseRows();
  const found = useIds(text);
  const open = (to: ViewPath, params?: Record<string, string>, search?: Search) => () => {
    close();
    void navigate({ to: to as string, params: params as never, search: (search ?? {}) as never });
  };
  const named: Item[] = [
    ...views.flatMap(({ path, title, icon }) =>
      icon ? [{ key: path, icon, text: title, kind: 'View', go: open(path) }] : [],
    ),
    ...(isRegistered('/agents/$name') ? agents : []).map(({ name }): Item => ({
      key: `agent ${name}`,
      icon: 'agent',
      text: name,
      kind: 'Agent',
      go: open('/agents/$name', { name }),
    })),
    ...types.map((name): Item => ({
      key: `type ${name}`,
      icon: 'artifact',
      text: name,
      kind: 'Type',
      go: open('/artifacts', {}, { type: name }),
    })),
    {
      key: 'rows',
      icon: 'rows',
      text: isDense ? 'Make rows of lists higher' : 'Make rows of lists dense',
      kind: 'Setting',
      go: () => {
        setDenseRows(!isDense);
        close();
      },
    },
  ];
  const words = text.toLowerCase().split(/\s+/);
  const matching = named.filter((item) => words.every((word) => item.text.toLowerCase().includes(word)));
  const ids = found.map(({ to, kind, icon }): Item => ({
    key: `${kind} ${text}`,
    icon,
    text,
    kind,
    go: open(to, { id: text }),
  }));
  return [...ids, ...matching].slice(0, MOST_ITEMS);
}

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

interface IdKind {
  kind: string;
  icon: IconName;
  to: ViewPath;
  /** The ids of correlations are chosen by clients; all others are UUIDs. */
  isUuid: boolean;
  exists: (id: string) => Promise<unknown>;
}

const ID_KINDS: IdKind[] = [
  {
    kind: 'Artifact',
    icon: 'artifact',
    to: '/artifacts/$id',
    isUuid: true,
    exists: (artifact_id) => get('/api/v1/artifacts/{artifact_id}', { path: { artifact_id } }),
  },
  {
    kind: 'Correlation',
    icon: 'correlation',
    to: '/correlations/$id',
    isUuid: false,
    exists: async (correlation_id) => {
      const { state } = await get('/api/v1/correlations/{correlation_id}/status', { path: { correlation_id } });
      if (state === 'not_found') throw new Error('not found');
    },
  },
  {
    kind: 'Batch',
    icon: 'batch',
    to: '/batches/$id',
    isUuid: true,
    exists: (batch_id) => get('/batch/{batch_id}', { path: { batch_id } }),
  },
];

/** Returns what has this id, as far as a view shows it. */
function useIds(text: string): IdKind[] {
  const { data } = useQuery({
    queryKey: ['what has this id', text],
    enabled: text.length >= 3,
    queryFn: async () => {
      const kinds = ID_KINDS.filter(({ to, isUuid }) => isRegistered(to) && (!isUuid || UUID.test(text)));
      const answers = await Promise.allSettled(kinds.map(({ exists }) => exists(text)));
      return kinds.filter((_, index) => answers[index]!.status === 'fulfilled');
    },
    placeholderData: undefined,
  });
  return data ?? [];
}
