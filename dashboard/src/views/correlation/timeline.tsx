import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';

import { Icon } from '../../components/icon';
import { StateIcon } from '../../components/state-badge';
import { countText, durationText } from '../../formats';
import { type BarKind, barsOf, shownState, spanOf, type TimelineRow } from './rows';
import { type TimeScale, timeScale } from './time-scale';

const COLOURS: Record<BarKind, string> = {
  waiting: 'h-0.5 bg-line-strong',
  retrying: 'h-0.5 bg-waiting',
  running: 'h-3 bg-running',
  completed: 'h-3 bg-completed',
  failed: 'h-3 bg-failed',
  cancelled: 'h-3 bg-idle',
};

const ROW = 32;

export interface TimelineProps {
  rows: readonly TimelineRow[];
  now: number;
  selected: string;
  select: (id: string) => void;
}

/** A bar for each execution. Only the rows in sight exist. */
export function Timeline({ rows, now, selected, select }: TimelineProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    getItemKey: (index) => rows[index]!.id,
    overscan: 10,
  });
  const selectedIndex = rows.findIndex(({ id }) => id === selected);
  const isFound = selectedIndex >= 0;
  const scrollToSelected = useRef<() => void>(undefined);
  useEffect(() => {
    scrollToSelected.current = () => virtualizer.scrollToIndex(selectedIndex);
  });
  useEffect(() => {
    // New rows above the selected one change its index. The list must not scroll because of that.
    if (isFound) scrollToSelected.current?.();
  }, [selected, isFound]);
  const scale = timeScale(rows.flatMap((row) => spanOf(row, now)));
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const from = Number((event.target as HTMLElement).closest('[data-index]')?.getAttribute('data-index') ?? -1);
    const index = Math.min(rows.length - 1, Math.max(0, from + step));
    virtualizer.scrollToIndex(index);
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"] button`)?.focus(),
    );
  };
  return (
    <div className="card flex min-h-80 flex-1 basis-0 flex-col overflow-hidden">
      <Axis scale={scale} />
      <div ref={scroller} className="min-h-0 flex-1 overflow-auto" tabIndex={-1}>
        <ol aria-label="Timeline" className="relative" style={{ height: virtualizer.getTotalSize() }} onKeyDown={move}>
          {virtualizer.getVirtualItems().map(({ index, key, start }) => (
            <li
              key={key}
              data-index={index}
              className="absolute top-0 left-0 h-8 w-full"
              style={{ transform: `translateY(${start}px)` }}
            >
              <Row
                row={rows[index]!}
                now={now}
                scale={scale}
                isSelected={rows[index]!.id === selected}
                select={select}
              />
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

const COLUMNS = 'grid grid-cols-[minmax(128px,30%)_1fr]';

function Axis({ scale }: { scale: TimeScale }): ReactNode {
  return (
    <div aria-hidden className={`${COLUMNS} h-8 shrink-0 items-center border-b border-line text-label text-muted`}>
      <span className="truncate px-3">Agent</span>
      <span className="relative mr-4 h-full overflow-hidden">
        {scale.ticks.map(({ at, text }) => (
          <span
            key={at}
            className="absolute top-0 flex h-full items-center border-l border-line pl-1 whitespace-nowrap tabular-nums max-sm:even:hidden"
            style={{ left: `${at * 100}%` }}
          >
            {text}
          </span>
        ))}
      </span>
    </div>
  );
}

interface RowProps {
  row: TimelineRow;
  now: number;
  scale: TimeScale;
  isSelected: boolean;
  select: (id: string) => void;
}

function Row({ row, now, scale, isSelected, select }: RowProps): ReactNode {
  const isArtifact = row.kind === 'artifact';
  const name = isArtifact ? row.artifact.type : row.execution.agent;
  return (
    <button
      type="button"
      aria-pressed={isSelected}
      onClick={() => select(row.id)}
      className={`${COLUMNS} h-8 w-full items-center border-b border-line text-left text-table ${isSelected ? 'bg-selected' : 'hover:bg-raised'}`}
    >
      <span className="flex min-w-0 items-center gap-2 px-3">
        {isArtifact ? (
          <Icon name="publish" className="text-muted" label="published" />
        ) : (
          <StateIcon state={shownState(row.execution)} />
        )}
        <span className="truncate">{name}</span>
        {!isArtifact && row.execution.attempts.length > 1 && (
          <span title={countText(row.execution.attempts.length, 'attempt')} className="shrink-0 text-label text-muted">
            × {row.execution.attempts.length}
          </span>
        )}
      </span>
      <span className="relative mr-4 h-full">
        {scale.breaks.map(({ at, text }) => (
          <span
            key={at}
            title={text}
            className="absolute top-0 h-full w-0 border-l border-dashed border-line-strong"
            style={{ left: `${at * 100}%` }}
          />
        ))}
        <Bars row={row} now={now} scale={scale} />
      </span>
    </button>
  );
}

function Bars({ row, now, scale }: Pick<RowProps, 'row' | 'now' | 'scale'>): ReactNode {
  if (row.kind === 'artifact')
    return (
      <span
        className="absolute top-1/2 size-2 -translate-1/2 rotate-45 bg-accent"
        style={{ left: `${scale.place(row.at) * 100}%` }}
      />
    );
  return barsOf(row.execution, now).map(({ kind, from, to }) => {
    const left = scale.place(from) * 100;
    const width = scale.place(to) * 100 - left;
    return (
      <span
        key={`${kind} ${from}`}
        title={`${kind} ${durationText(to - from)}`}
        className={`absolute top-1/2 min-w-0.5 -translate-y-1/2 rounded-md ${COLOURS[kind]}`}
        style={{ left: `${left}%`, width: `${width}%` }}
      />
    );
  });
}
