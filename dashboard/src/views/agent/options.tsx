import type { ReactNode } from 'react';

import { subscriptionText } from '../../agent-text';
import type { Schemas } from '../../api/requests';
import { Facts } from '../../components/facts';
import { Section } from '../../components/section';
import { costText, countText, durationText, numberText } from '../../formats';

type Agent = Schemas['AgentBody'];

/** Shows the options of the agent in the configuration, with the defaults. */
export function Options({ agent: { engine, options, subscriptions, breaker } }: { agent: Agent }): ReactNode {
  const { timeout_ms, concurrency, retry, budget, labels, tenant_id } = options;
  const isExternal = engine.kind === 'external';
  const executions = countText(concurrency, 'execution');
  const timeout = durationText(timeout_ms);
  return (
    <Section title="Options">
      <div className="p-3">
        <Facts
          facts={[
            ['Engine', engineText(engine)],
            [
              'Concurrency',
              `at most ${executions} ${isExternal ? 'claimed ' : ''}at the same time, over all processes`,
            ],
            [
              'Timeout',
              isExternal ? `a claim ends after ${timeout} without a heartbeat` : `${timeout} for each attempt`,
            ],
            ['Retry', retryText(retry)],
            ['Breaker', breaker === undefined ? null : breakerText(breaker)],
            ['Priority', priorityText(subscriptions)],
            ['Budget', budgetText(budget, engine.kind === 'llm')],
            ['Labels', labels.length > 0 ? labels.join(', ') : null],
            ['Tenant', tenant_id],
          ]}
        />
      </div>
    </Section>
  );
}

function engineText({ kind, model }: Agent['engine']): string {
  switch (kind) {
    case 'expression':
      return 'a CEL expression';
    case 'function':
      return 'a function that the service runs';
    case 'http':
      return 'a remote agent, called over HTTP';
    case 'llm':
      return `the language model ${model}`;
    case 'external':
      return 'people or workers, who claim its executions';
    case 'provider':
      return 'a class of the program';
  }
}

function retryText({ attempts, delay_ms, max_delay_ms }: Agent['options']['retry']): string {
  if (attempts === 1) return '1 attempt; a failure is final';
  const wait = delay_ms === 0 ? 'immediately' : `after about ${durationText(delay_ms)}`;
  const first = `${numberText(attempts)} attempts in all, the second ${wait}`;
  if (attempts === 2) return first;
  if (delay_ms === 0) return `${numberText(attempts)} attempts in all, without delays`;
  return `${first}; each further delay is twice as long, up to ${durationText(max_delay_ms)}`;
}

function breakerText({ failures, of, open_ms, key, open }: NonNullable<Agent['breaker']>): string {
  const rule = `opens for ${durationText(open_ms)} when ${numberText(failures)} of the last ${countText(of, 'attempt')} have failed`;
  if (open === 0) return rule;
  return `${rule}; ${key === null ? 'it is not closed now' : `${countText(open, 'key')} not closed now`}`;
}

/** One number if all subscriptions have the same. */
const priorityOf = ({ priority }: Agent['subscriptions'][number]): string =>
  priority === null ? 'by expression' : numberText(priority);

function priorityText(subscriptions: Agent['subscriptions']): string | null {
  const [first, ...others] = subscriptions;
  if (first === undefined) return null;
  if (others.every(({ priority }) => priority === first.priority)) return priorityOf(first);
  return subscriptions.map((one) => `${priorityOf(one)} for ${subscriptionText(one)}`).join('; ');
}

function budgetText({ tokens, cost }: Agent['options']['budget'], usesModel: boolean): string | null {
  const limits = [tokens !== null && countText(tokens, 'token'), cost !== null && `a cost of ${costText(cost)}`].filter(
    Boolean,
  );
  if (limits.length > 0) return `at most ${limits.join(' and ')} in one correlation`;
  return usesModel ? 'no limit' : null;
}
