import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';

import { subscriptionText } from '../../agent-text';
import { answered, api } from '../../api/client';
import { useApi } from '../../api/queries';
import type { Schemas, ShownRequest } from '../../api/requests';
import { text, useFilters } from '../../app/filters';
import { announce } from '../../components/announcer';
import { ArtifactList } from '../../components/artifact-list';
import { CurlButton } from '../../components/copy';
import { ChoiceField } from '../../components/fields';
import { Icon } from '../../components/icon';
import { parseObject } from '../../components/json-field';
import { PayloadField } from '../../components/payload-field';
import { Section } from '../../components/section';
import { Failure, LoadingRows } from '../../components/states';
import { exampleOf } from '../../json-example';

type Agent = Schemas['AgentBody'];

const PATH = '/api/v1/agents/{agent_name}/run';

const TITLE = 'Run it alone';

/** The inputs of one execution: an artifact of each type. */
interface Inputs {
  title: string;
  types: string[];
}

/** Each combination of types that triggers the agent. */
function inputsOf({ subscriptions }: Agent): Inputs[] {
  const all = subscriptions.flatMap((subscription) =>
    subscription.mode === 'all'
      ? [{ title: subscriptionText(subscription), types: subscription.types }]
      : subscription.types.map((type) => ({ title: type, types: [type] })),
  );
  return [...new Map(all.map((inputs) => [inputs.title, inputs])).values()];
}

/** Runs the agent alone, on inputs that are written here. */
export function RunSection({ agent }: { agent: Agent }): ReactNode {
  const { data, error, refetch } = useApi('/api/v1/artifact-types');
  const choices = inputsOf(agent);
  if (choices.length === 0) return null;
  // The fields start with examples of the types: if these came later, they would move the cursor of who types already.
  if (data) return <RunForm agent={agent} choices={choices} types={data.artifact_types} />;
  return (
    <Section title={TITLE}>
      {error ? <Failure error={error} retry={() => void refetch()} /> : <LoadingRows count={4} />}
    </Section>
  );
}

interface RunFormProps {
  agent: Agent;
  /** At least one. */
  choices: readonly Inputs[];
  types: readonly Schemas['ArtifactTypeBody'][];
}

function RunForm({ agent, choices, types }: RunFormProps): ReactNode {
  const { value, set } = useFilters({ inputs: text });
  const [typed, setTyped] = useState<Record<string, string>>({});
  const chosen = choices.find(({ title }) => title === value.inputs) ?? choices[0]!;
  const schemaOf = (type: string): Record<string, unknown> | null =>
    types.find(({ name }) => name === type)?.schema ?? null;
  const textOf = (type: string): string => typed[type] ?? JSON.stringify(exampleOf(schemaOf(type)), undefined, 2);
  const inputs = chosen.types.map((type) => ({ type, ...parseObject(textOf(type)) }));
  const body = { inputs: inputs.map(({ type, object = {} }) => ({ type, payload: object })) };
  const params = { path: { agent_name: agent.name } };
  const running = useMutation({
    mutationFn: async () => answered(api.POST(PATH, { params, body })),
    onSuccess: ({ artifacts }) => announce(`The agent published ${artifacts.length} artifacts`),
  });
  const isValid = inputs.every(({ fault }) => fault === undefined);
  const isReady = isValid && !running.isPending;
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    if (isReady) running.mutate();
  };
  const request: ShownRequest = { method: 'POST', path: PATH, params, body };
  return (
    <Section title={TITLE} actions={<CurlButton request={isValid ? request : undefined} />}>
      <form onSubmit={submit} className="flex flex-col gap-3 p-3">
        <p className="text-table text-muted">
          One execution on these inputs, in a correlation without other agents. What it publishes triggers no agent.
        </p>
        {choices.length > 1 && (
          <ChoiceField
            label="Inputs"
            value={chosen.title}
            choices={choices.map(({ title }) => ({ value: title, text: title }))}
            onChange={(title) => set({ inputs: title })}
          />
        )}
        {chosen.types.map((type, index) => (
          <PayloadField
            key={type}
            label={type}
            schema={schemaOf(type)}
            error={running.error}
            place={`inputs[${index}].payload`}
            rows={chosen.types.length > 1 ? 6 : 8}
            value={textOf(type)}
            onChange={(next) => setTyped({ ...typed, [type]: next })}
            onSubmit={submit}
          />
        ))}
        {agent.paused && (
          <p className="text-table text-paused">The agent is paused: a run waits until it is resumed.</p>
        )}
        {running.error && (
          <p role="alert" className="text-table text-failed">
            {running.error.message}
          </p>
        )}
        <div>
          <button type="submit" className="button-main" disabled={!isReady}>
            <Icon name="execution" />
            {running.isPending ? 'Running…' : 'Run the agent'}
          </button>
        </div>
      </form>
      {running.data && (
        <div className="border-t border-line">
          {running.data.artifacts.length === 0 ? (
            <p className="p-3 text-table text-muted">It published nothing.</p>
          ) : (
            <div className="p-3">
              <ArtifactList artifacts={running.data.artifacts} />
            </div>
          )}
        </div>
      )}
    </Section>
  );
}
