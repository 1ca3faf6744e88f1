import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { answered, api } from '../api/client';
import type { Schemas } from '../api/requests';
import { countText } from '../formats';
import { Confirm } from './dialog';
import { Icon } from './icon';
import { useQuestion } from './use-question';

type Operation = Schemas['OperationBody'];
type OperationFilter = Schemas['OperationFilterBody'];

export interface OperationButtonProps {
  kind: Operation['kind'];
  /** Called when the person asks, because a filter may end at this time. */
  filter: () => OperationFilter;
  /** The text of the button. */
  text: string;
  /** For screen readers, if the text does not say which executions. */
  label?: string;
  className?: string;
  /** Says what will happen to the executions. */
  children: ReactNode;
  onStart: (operationId: string) => void;
}

const WORDS = {
  retry: { icon: 'again', title: 'Retry these executions?', verb: 'Retry', started: 'The executions are retried' },
  fail: { icon: 'cross', title: 'Fail these executions?', verb: 'Fail', started: 'The executions are failed' },
} as const;

/** Starts an operation over many executions, after a question that says how many. */
export function OperationButton({
  kind,
  filter: filterNow,
  text,
  label,
  className = 'button',
  children,
  onStart,
}: OperationButtonProps): ReactNode {
  const [filter, setFilter] = useState<OperationFilter>({});
  const { icon, title, verb, started } = WORDS[kind];
  const question = useQuestion({
    run: () => send(kind, filter),
    done: started,
    onDone: (operation) => onStart((operation as Operation).operation_id),
  });
  const { data, error, isFetching } = useQuery({
    queryKey: ['dry run', kind, filter],
    queryFn: ({ signal }) => send(kind, { ...filter, dry_run: true }, signal),
    enabled: question.isOpen,
    staleTime: 0,
    gcTime: 0,
    placeholderData: undefined,
  });
  const matched = isFetching ? undefined : data?.matched;
  return (
    <>
      <button
        type="button"
        className={className}
        aria-label={label}
        title={label}
        onClick={() => {
          setFilter(filterNow());
          question.ask();
        }}
      >
        <Icon name={icon} />
        {text}
      </button>
      <Confirm
        title={title}
        action={matched === undefined ? verb : `${verb} ${countText(matched, 'execution')}`}
        {...question.confirm}
        isBusy={question.confirm.isBusy || !matched}
        error={question.confirm.error ?? error}
      >
        {matched === 0 ? 'No execution matches any more.' : children}
      </Confirm>
    </>
  );
}

async function send(
  kind: Operation['kind'],
  body: OperationFilter & { dry_run?: boolean },
  signal?: AbortSignal,
): Promise<Operation | Schemas['MatchedBody']> {
  return answered(api.POST(`/api/v1/executions/${kind}`, { body, signal }));
}
