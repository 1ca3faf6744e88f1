import type { ReactNode } from 'react';

import { nextByCursor, type Pages, usePages } from '../api/queries';
import { choice, text, useFilters } from '../app/filters';
import { CurlButton } from '../components/copy';
import { FilterBar, TextField } from '../components/fields';
import { Page } from '../components/page';
import { Section } from '../components/section';
import { Segments } from '../components/segments';
import { Empty, Failure, LoadingRows } from '../components/states';
import { useRepeated } from '../components/use-repeated';
import { countText, numberText } from '../formats';
import type { LiveEvent } from '../live/messages';
import { useLiveRefresh } from '../live/use-live';
import { AgentTotals } from './compare/agent-totals';
import { type Comparison, type Pair, PATH } from './compare/comparison';
import { PairOfArtifacts } from './compare/pair-of-artifacts';
import { Sides } from './compare/sides';

const EVERY_MS = 5_000;

const SHOWN = ['differences', 'all'] as const;

const READERS = { left: text, right: text, show: choice(...SHOWN) };

/** Two correlations side by side: what differs between their artifacts, and what each side took. */
export default function Compare(): ReactNode {
  const { value, set, isAny, clear } = useFilters(READERS);
  const { left, right, show } = value;
  const query = { left, right };
  const isChosen = left !== '' && right !== '';
  return (
    <Page
      title="Compare"
      about="Two correlations, artifact by artifact"
      actions={
        <>
          <Segments
            label="Show"
            value={show}
            choices={[
              { value: 'differences', text: 'Differences' },
              { value: 'all', text: 'All pairs' },
            ]}
            onChange={(chosen) => set({ show: chosen })}
          />
          <CurlButton request={isChosen ? { path: PATH, params: { query } } : undefined} />
        </>
      }
    >
      <FilterBar isAny={isAny} clear={clear}>
        <TextField label="Left correlation" value={left} onChange={(id) => set({ left: id })} />
        <TextField label="Right correlation" value={right} onChange={(id) => set({ right: id })} />
      </FilterBar>
      {isChosen ? (
        <Compared key={`${left} ${right}`} query={query} show={show} />
      ) : (
        <Empty icon="compare" title="Choose two correlations">
          Write their ids into the fields. A correlation has a button that brings it here.
        </Empty>
      )}
    </Page>
  );
}

interface ComparedProps {
  query: { left: string; right: string };
  show: (typeof SHOWN)[number];
}

function Compared({ query, show }: ComparedProps): ReactNode {
  const pages = usePages(PATH, { query }, { rows: ({ items }) => items, next: nextByCursor });
  const { first, error } = pages;
  const ids = first && [first.left.correlation_id, first.right.correlation_id];
  const isActive = first?.left.state === 'active' || first?.right.state === 'active';
  const concerns = (event: LiveEvent): boolean =>
    'correlation_id' in event && ids!.includes(event.correlation_id as string);
  useLiveRefresh(() => void pages.refresh(), isActive ? concerns : undefined, EVERY_MS);
  // The live connection leaves replays out, and does not say which of the two is one.
  useRepeated(() => void pages.refresh(), isActive ? EVERY_MS : undefined);
  if (error && !first) return <Failure error={error} retry={() => void pages.refresh()} />;
  if (!first) return <LoadingRows />;
  return (
    <>
      <Sides left={first.left} right={first.right} />
      <Section title="Agents">
        <AgentTotals agents={first.agents} />
      </Section>
      <Section title="Artifacts" actions={<p className="text-table text-muted">{countsText(first)}</p>}>
        <Pairs pages={pages} show={show} />
      </Section>
    </>
  );
}

const countsText = ({ paired, only_left, only_right }: Comparison): string =>
  `${countText(paired, 'pair')}, ${numberText(only_left)} only left, ${numberText(only_right)} only right`;

function Pairs({ pages, show }: { pages: Pages<typeof PATH, Pair>; show: ComparedProps['show'] }): ReactNode {
  const { rows, hasMore, isLoadingMore, loadMore } = pages;
  const shown = show === 'all' ? rows : rows.filter(({ result, moved }) => result !== 'equal' || moved);
  return (
    <>
      {shown.length === 0 && (
        <Empty icon="check" title={hasMore ? 'The pairs so far are equal' : 'All artifacts are equal'}>
          {countText(rows.length, 'pair')} {rows.length === 1 ? 'has' : 'have'} the same payload on both sides.
        </Empty>
      )}
      <ul aria-label="Pairs">
        {shown.map((pair) => (
          <PairOfArtifacts key={`${pair.left?.id} ${pair.right?.id}`} pair={pair} />
        ))}
      </ul>
      {hasMore && (
        <div className="border-t border-line p-3">
          <button type="button" className="button" disabled={isLoadingMore} onClick={loadMore}>
            Compare more artifacts
          </button>
        </div>
      )}
    </>
  );
}
