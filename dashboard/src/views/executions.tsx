import type { ReactNode } from 'react';

import { choice, useFilters } from '../app/filters';
import { ExecutionList } from './executions/execution-list';
import { FailureList } from './executions/failure-list';
import { VIEWS } from './executions/frame';

const READERS = { view: choice(...VIEWS) };

export default function Executions(): ReactNode {
  const { value } = useFilters(READERS);
  return value.view === 'failures' ? <FailureList /> : <ExecutionList />;
}
