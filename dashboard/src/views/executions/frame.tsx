import type { ReactNode } from 'react';

import { choice, text, useFilters } from '../../app/filters';
import { OperationProgress } from '../../components/operation-progress';
import { Page } from '../../components/page';
import { Segments } from '../../components/segments';
import { WithPanel } from '../../components/side-panel';
import { ExecutionPanel } from './execution-panel';

/** The empty one is the list. */
export const VIEWS = ['', 'failures'] as const;

const READERS = { view: choice(...VIEWS), execution: text, operation: text };

export interface FrameProps {
  /** One line under the title. */
  about: string;
  actions: ReactNode;
  filterBar: ReactNode;
  children: ReactNode;
  /** The chosen execution was retried. */
  changed: () => void;
}

/** The parts that the lists of executions and of failures share: the chosen execution, and the running operation. */
export function Frame({ about, actions, filterBar, children, changed }: FrameProps): ReactNode {
  const { value, set } = useFilters(READERS);
  return (
    <Page title="Executions" about={about} actions={actions}>
      <Segments
        label="Shown"
        value={value.view}
        choices={[
          { value: '', text: 'All executions' },
          { value: 'failures', text: 'Failures in groups' },
        ]}
        onChange={(view) => set({ view })}
      />
      {value.operation !== '' && (
        <OperationProgress key={value.operation} id={value.operation} close={() => set({ operation: '' })} />
      )}
      {filterBar}
      <WithPanel>
        {children}
        {value.execution !== '' && (
          <ExecutionPanel
            key={value.execution}
            id={value.execution}
            close={() => set({ execution: '' })}
            changed={changed}
          />
        )}
      </WithPanel>
    </Page>
  );
}
