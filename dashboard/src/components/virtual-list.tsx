import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';

import type { Pages } from '../api/queries';
import type { GetPath } from '../api/requests';
import { Failure, LoadingRows } from './states';

export interface Column<Row> {
  id: string;
  title: string;
  /** A track of a CSS grid, such as `120px` or `minmax(0, 1fr)`. */
  width: string;
  /** The list must be as many pixels wide to show it. */
  from?: number;
  align?: 'end';
  render: (row: Row) => ReactNode;
}

export interface VirtualListProps<P extends GetPath, Row> {
  /** What the rows are, for screen readers. */
  label: string;
  columns: Column<Row>[];
  pages: Pages<P, Row>;
  keyOf: (row: Row) => string;
  /** Shown instead of rows if the list is empty. */
  empty: ReactNode;
  /** Rows that came since the list was read; undefined if it is not known how many. */
  news?: { count: number | undefined; show: () => void };
}

/** Rows before the end of the list at which the next page is read. */
const AHEAD = 20;

/**
 * A table of any length: only the rows in sight exist, and further pages are read while it is scrolled. Arrow keys move
 * between the first links of the rows.
 */
export function VirtualList<P extends GetPath, Row>({
  label,
  columns,
  pages,
  keyOf,
  empty,
  news,
}: VirtualListProps<P, Row>): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(scroller);
  const rowHeight = useRowHeight();
  const { hasMore, isLoadingMore, loadMore } = pages;
  const rows = withoutRepetition(pages.rows, keyOf);
  const shown = columns.filter(({ from = 0 }) => width >= from);
  const template = { gridTemplateColumns: shown.map((column) => column.width).join(' ') };
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => keyOf(rows[index]!),
    overscan: 12,
  });
  useLayoutEffect(() => virtualizer.measure(), [rowHeight, virtualizer]);
  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= rows.length - AHEAD) loadMore();
  });

  const moveFocus = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = (event.target as HTMLElement).closest('[data-index]');
    if (step === undefined || row === null) return;
    event.preventDefault();
    const index = Math.min(rows.length - 1, Math.max(0, Number(row.getAttribute('data-index')) + step));
    virtualizer.scrollToIndex(index);
    requestAnimationFrame(() => focusRow(scroller.current, index));
  };

  const body = (): ReactNode => {
    if (pages.error && rows.length === 0) return <Failure error={pages.error} retry={() => void pages.restart()} />;
    if (pages.isLoading) return <LoadingRows />;
    if (rows.length === 0) return empty;
    return (
      <div
        role="table"
        aria-label={label}
        aria-rowcount={hasMore ? -1 : rows.length + 1}
        onKeyDown={moveFocus}
        className="min-w-full"
      >
        <div role="rowgroup" className="sticky top-0 z-10">
          <div
            role="row"
            aria-rowindex={1}
            className="grid h-8 items-center border-b border-line bg-surface"
            style={template}
          >
            {shown.map(({ id, title, align }) => (
              <div
                key={id}
                role="columnheader"
                className={`truncate px-3 text-label text-muted ${align === 'end' ? 'text-right' : ''}`}
              >
                {title}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, key, start }) => (
            <div
              key={key}
              role="row"
              data-index={index}
              aria-rowindex={index + 2}
              className="absolute top-0 left-0 grid h-row w-full items-center border-b border-line text-table hover:bg-raised focus-within:bg-raised"
              style={{ ...template, transform: `translateY(${start}px)` }}
            >
              {shown.map(({ id, align, render }) => (
                <div key={id} role="cell" className={`truncate px-3 ${align === 'end' ? 'text-right' : ''}`}>
                  {render(rows[index]!)}
                </div>
              ))}
            </div>
          ))}
        </div>
        {isLoadingMore && <p className="p-3 text-label text-muted">Loading more…</p>}
      </div>
    );
  };

  return (
    <div className="relative flex min-h-80 flex-1 basis-0 flex-col">
      {news && (
        <button
          type="button"
          className="button-main absolute top-10 left-1/2 z-20 -translate-x-1/2 shadow-overlay"
          onClick={() => {
            scroller.current?.scrollTo({ top: 0 });
            news.show();
          }}
        >
          {news.count === undefined ? 'Show what is new' : `${news.count} new`}
        </button>
      )}
      <div
        ref={scroller}
        className="card min-h-0 flex-1 overflow-auto"
        role="region"
        aria-label={label}
        tabIndex={0}
        data-scroller
      >
        {body()}
      </div>
    </div>
  );
}

/** A list that is read by offset moves while it is read, and then a page repeats rows of the page before. */
function withoutRepetition<Row>(rows: Row[], keyOf: (row: Row) => string): Row[] {
  const seen = new Set<string>();
  return rows.filter((row) => seen.size < seen.add(keyOf(row)).size);
}

function focusRow(scroller: HTMLElement | null, index: number): void {
  scroller?.querySelector<HTMLElement>(`[data-index="${index}"] :is(a, button)`)?.focus({ preventScroll: true });
}

function useWidth(element: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    setWidth(current.clientWidth);
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

/** The height of a row changes with the switch for dense rows. */
function useRowHeight(): number {
  const [height, setHeight] = useState(readRowHeight);
  useEffect(() => {
    const observer = new MutationObserver(() => setHeight(readRowHeight()));
    observer.observe(document.documentElement, { attributeFilter: ['data-rows'] });
    return () => observer.disconnect();
  }, []);
  return height;
}

const readRowHeight = (): number =>
  parseFloat(getComputedStyle(document.documentElement).getPropertyValue('--row')) || 36;
