import type { ReactNode } from 'react';

import { choice, useFilters } from '../../app/filters';
import { Page } from '../../components/page';
import { Segments } from '../../components/segments';

/** The empty one is the list of deliveries. */
export const VIEWS = ['', 'targets'] as const;

const READERS = { view: choice(...VIEWS) };

export interface FrameProps {
  /** One line under the title. */
  about: string;
  actions: ReactNode;
  filterBar: ReactNode;
  children: ReactNode;
}

/** The parts that the list of deliveries and the list of targets share. */
export function Frame({ about, actions, filterBar, children }: FrameProps): ReactNode {
  const { value, set } = useFilters(READERS);
  return (
    <Page title="Deliveries" about={about} actions={actions}>
      <Segments
        label="Shown"
        value={value.view}
        choices={[
          { value: '', text: 'All deliveries' },
          { value: 'targets', text: 'Targets' },
        ]}
        onChange={(view) => set({ view })}
      />
      {filterBar}
      {children}
    </Page>
  );
}
