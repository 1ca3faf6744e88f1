import { type ReactNode, useLayoutEffect, useRef, useState } from 'react';

import { nextByOffset, usePages } from '../api/queries';
import type { GetQuery, Schemas } from '../api/requests';
import { choice, type Filters, text, useFilters } from '../app/filters';
import { AgentField } from '../components/choice-filters';
import { CurlButton } from '../components/copy';
import { ChoiceField, FilterBar, TextField } from '../components/fields';
import { Page } from '../components/page';
import { PanelButton } from '../components/panel-button';
import { WithPanel } from '../components/side-panel';
import { StateBadge } from '../components/state-badge';
import { Empty, NoMatch } from '../components/states';
import { Ago } from '../components/time';
import { useNews } from '../components/use-news';
import { type Column, VirtualList } from '../components/virtual-list';
import { areShortcutsOn, storeShortcuts } from './inbox/held-lease';
import { TaskPanel } from './inbox/task-panel';

type Execution = Schemas['ListedExecutionBody'];

const PATH = '/api/v1/executions';

const STATES = ['', 'pending', 'running'] as const;

type InboxFilters = Filters<{ state: (typeof STATES)[number]; agent: string; assignee: string }>;

/** The work that waits for people, and the answers of this one. */
export default function Inbox(): ReactNode {
  const filters: InboxFilters = useFilters({ state: choice(...STATES), agent: text, assignee: text });
  const chosen = useFilters({ task: text });
  const { state, agent, assignee } = filters.value;
  const query: GetQuery<typeof PATH> = { external: true, state: state || undefined, agent, assignee, limit: 100 };
  const pages = usePages(PATH, { query }, { rows: ({ items }) => items, next: nextByOffset });
  const section = useRef<HTMLDivElement>(null);
  const news = useNews({
    // A publish may give work to a person; only the list says whether it did.
    isNew: ({ event_type: type }) =>
      type === 'artifact_published' || (type.startsWith('execution_') && type !== 'execution_output')
        ? undefined
        : false,
    restart: pages.restart,
    within: section,
  });
  const { task } = chosen.value;
  const choose = (id: string): void => chosen.set({ task: id });
  const step = (by: number): void => {
    const at = pages.rows.findIndex(({ id }) => id === task);
    const next = pages.rows[at === -1 ? 0 : Math.min(pages.rows.length - 1, Math.max(0, at + by))];
    if (next) choose(next.id);
  };
  return (
    <Page
      title="Inbox"
      about="Work that waits for a person or a worker outside, the newest first"
      actions={<CurlButton request={{ path: PATH, params: { query } }} />}
    >
      <InboxFilterBar filters={filters} />
      <Shortcuts step={step} />
      <WithPanel>
        <div ref={section} className="flex min-h-80 min-w-0 flex-1 flex-col">
          <VirtualList
            label="Tasks"
            columns={columnsFor(choose, task)}
            pages={pages}
            keyOf={({ id }) => id}
            news={news}
            empty={<NoTasks filters={filters} />}
          />
        </div>
        {task !== '' && (
          <TaskPanel
            key={task}
            id={task}
            close={() => choose('')}
            changed={() => void pages.restart()}
            ended={() => {
              const at = pages.rows.findIndex(({ id }) => id === task);
              choose((pages.rows[at + 1] ?? pages.rows[at - 1])?.id ?? '');
            }}
          />
        )}
      </WithPanel>
    </Page>
  );
}

const columnsFor = (choose: (id: string) => void, chosen: string): Column<Execution>[] => [
  {
    id: 'agent',
    title: 'Task',
    width: 'minmax(96px, 1fr)',
    render: ({ id, agent }) => (
      <PanelButton id={id} chosen={chosen} choose={choose}>
        {agent}
      </PanelButton>
    ),
  },
  {
    id: 'state',
    title: 'State',
    width: 'minmax(132px, 1.2fr)',
    render: ({ state, claimed_by }) => (
      <span className="flex items-center gap-2">
        <StateBadge state={state === 'running' ? 'claimed' : state} />
        {state === 'running' && <span className="truncate text-muted">{claimed_by}</span>}
      </span>
    ),
  },
  { id: 'assignee', title: 'For', width: '104px', from: 400, render: ({ assignee }) => assignee ?? 'anyone' },
  {
    id: 'due',
    title: 'Due',
    width: '96px',
    from: 500,
    align: 'end',
    render: ({ due_at }) =>
      due_at === null ? (
        <span className="text-muted">–</span>
      ) : (
        <span className={Date.parse(due_at) < Date.now() ? 'text-failed' : ''}>
          <Ago at={due_at} />
        </span>
      ),
  },
  {
    id: 'created',
    title: 'Since',
    width: '96px',
    from: 280,
    align: 'end',
    render: ({ created_at: at }) => <Ago at={at} />,
  },
];

function InboxFilterBar({ filters: { value, set, clear, isAny } }: { filters: InboxFilters }): ReactNode {
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <ChoiceField
        label="State"
        value={value.state}
        choices={[
          { value: '', text: 'any' },
          { value: 'pending', text: 'not claimed' },
          { value: 'running', text: 'claimed' },
        ]}
        onChange={(state) => set({ state })}
      />
      <AgentField value={value.agent} onChange={(agent) => set({ agent })} />
      <TextField label="Assignee" value={value.assignee} onChange={(assignee) => set({ assignee })} />
    </FilterBar>
  );
}

/** Single keys, which a switch turns off for those whose input would press them by accident. */
function Shortcuts({ step }: { step: (by: number) => void }): ReactNode {
  const [isOn, setIsOn] = useState(areShortcutsOn);
  const latest = useRef(step);
  // A key may be pressed as soon as the rows are drawn, and then it means these.
  useLayoutEffect(() => {
    latest.current = step;
  });
  useLayoutEffect(() => {
    if (!isOn) return;
    const keyDown = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]') !== null) return;
      if (target.matches('textarea, select, input:not([type=checkbox], [type=radio])')) return;
      const act = {
        j: () => latest.current(1),
        k: () => latest.current(-1),
        c: () => document.querySelector<HTMLElement>('[data-key=c]')?.click(),
        a: () => document.querySelector<HTMLElement>('[data-answer] :is(input, select, textarea)')?.focus(),
        r: () => document.querySelector<HTMLElement>('[data-key=r]')?.click(),
      }[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', keyDown);
    return () => document.removeEventListener('keydown', keyDown);
  }, [isOn]);
  return (
    <label className="hidden min-h-6 items-center gap-2 self-start text-label text-muted sm:flex">
      <input
        type="checkbox"
        checked={isOn}
        onChange={({ target }) => {
          setIsOn(target.checked);
          storeShortcuts(target.checked);
        }}
      />
      <span>
        Keys: <kbd>j</kbd> and <kbd>k</kbd> next and previous, <kbd>c</kbd> claim, <kbd>a</kbd> answer, <kbd>r</kbd>{' '}
        release
      </span>
    </label>
  );
}

function NoTasks({ filters: { isAny, clear } }: { filters: InboxFilters }): ReactNode {
  if (isAny) return <NoMatch icon="inbox" of="task" clear={clear} />;
  return (
    <Empty icon="inbox" title="Nothing waits for you">
      A task appears here when an agent with <code className="font-mono">engine: {'{ kind: external }'}</code> gets its
      inputs.
    </Empty>
  );
}
