import type { ReactNode } from 'react';

import { IdChip } from './copy';

/** The artifact that cancelled an execution, or took the place of its input. */
export function CancellingArtifact({ id }: { id: string }): ReactNode {
  return <IdChip id={id} what="artifact" to={{ to: '/artifacts/$id', params: { id } }} />;
}

/** The execution whose answer another one took, or for which it was skipped. It may be deleted already. */
export function OtherExecution({ id }: { id: string }): ReactNode {
  return <IdChip id={id} what="execution" to={{ to: '/executions', search: { execution: id } }} />;
}
