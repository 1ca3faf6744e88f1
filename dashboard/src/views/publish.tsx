import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';

import { answered, api } from '../api/client';
import { useApi } from '../api/queries';
import type { Schemas, ShownRequest } from '../api/requests';
import { choice, type Filters, list, text, useFilters } from '../app/filters';
import { announce } from '../components/announcer';
import { CurlButton } from '../components/copy';
import { ChoiceField, ListField, TextField } from '../components/fields';
import { Icon } from '../components/icon';
import { parseObject } from '../components/json-field';
import { Page } from '../components/page';
import { PayloadField } from '../components/payload-field';
import { SchemaSection } from '../components/schema-section';
import { Empty, Failure, LoadingRows } from '../components/states';
import { durationText } from '../formats';
import { exampleOf } from '../json-example';
import { Outcome } from './publish/outcome';
import { VISIBILITIES, visibilityOf } from './publish/visibility';

type ArtifactType = Schemas['ArtifactTypeBody'];

const TYPES = '/api/v1/artifact-types';

/** Longer payloads are not kept in the URL, since servers refuse long ones. */
const MOST_CHARACTERS = 2_000;

const WAIT_SECONDS = 30;

const READERS = {
  type: text,
  payload: text,
  tag: list,
  correlation_id: text,
  visibility: choice(...VISIBILITIES),
  agent: list,
  label: list,
  tenant: text,
  ttl: text,
  wait: choice('yes', 'no'),
  published: text,
};

type Draft = Filters<{ [K in keyof typeof READERS]: ReturnType<(typeof READERS)[K]> }>;

export default function Publish(): ReactNode {
  const types = useApi(TYPES);
  const agents = useApi('/api/v1/agents');
  const failed = [types, agents].find(({ data, error }) => error !== null && data === undefined);
  if (types.data && types.data.artifact_types.length > 0 && agents.data)
    return <PublishForm types={types.data.artifact_types} agents={agents.data.agents} />;
  const body = (): ReactNode => {
    if (failed) return <Failure error={failed.error!} retry={() => void failed.refetch()} />;
    if (!types.data || !agents.data) return <LoadingRows />;
    return (
      <Empty icon="publish" title="No artifact types are configured">
        Declare one under <code className="font-mono">types</code> in the configuration, or add an agent, and start the
        service again.
      </Empty>
    );
  };
  return (
    <Page title="Publish" actions={<CurlButton request={{ path: TYPES }} />}>
      {body()}
    </Page>
  );
}

/** A type that no agent publishes is where a workflow begins. */
function firstType(types: readonly ArtifactType[], agents: readonly Schemas['AgentBody'][]): ArtifactType {
  const consumed = new Set(agents.flatMap(({ subscriptions }) => subscriptions.flatMap(({ types: names }) => names)));
  const produced = new Set(agents.flatMap(({ outputs }) => outputs));
  return types.find(({ name }) => consumed.has(name) && !produced.has(name)) ?? types[0]!;
}

interface FormProps {
  types: readonly ArtifactType[];
  agents: readonly Schemas['AgentBody'][];
}

function PublishForm({ types, agents }: FormProps): ReactNode {
  const draft: Draft = useFilters(READERS);
  const { value, set } = draft;
  const type = types.find(({ name }) => name === value.type) ?? firstType(types, agents);
  const example = JSON.stringify(exampleOf(type.schema), undefined, 2);
  const [typed, setTyped] = useState<string>();
  const payload = typed ?? (value.payload || example);
  const { object, fault } = parseObject(payload);
  const request = requestOf(type.name, object ?? {}, value);
  const publishing = useMutation({
    mutationFn: () => publish(request, value.wait === 'yes'),
    onSuccess: ({ correlationId }) => {
      announce('Published');
      set({ published: correlationId });
    },
  });
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    if (fault === undefined && !publishing.isPending) publishing.mutate();
  };
  const keep = (): void => {
    const kept = payload === example || payload.length > MOST_CHARACTERS ? '' : payload;
    if (kept !== value.payload) set({ payload: kept });
  };
  const choose = (name: string): void => {
    setTyped(undefined);
    set({ type: name, payload: '' });
  };
  return (
    <Page
      title="Publish"
      about="Publish an artifact as a client does, and see what the agents make of it"
      actions={<CurlButton request={fault === undefined ? request : undefined} />}
    >
      <div className="grid items-start gap-4 xl:grid-cols-2">
        <form onSubmit={submit} className="card flex max-w-220 min-w-0 flex-col gap-3 p-4">
          <div className="flex flex-wrap items-end gap-3">
            <ChoiceField
              label="Type"
              value={type.name}
              choices={types.map(({ name }) => ({ value: name, text: name }))}
              onChange={choose}
            />
            <ChoiceField
              label="Answer"
              value={value.wait}
              choices={[
                { value: 'yes', text: `wait for the agents, ${WAIT_SECONDS} s at most` },
                { value: 'no', text: 'do not wait' },
              ]}
              onChange={(wait) => set({ wait })}
            />
          </div>
          <PayloadField
            key={type.name}
            label="Payload"
            schema={type.schema}
            error={publishing.error}
            value={payload}
            onChange={setTyped}
            onBlur={keep}
            onSubmit={submit}
            actions={
              payload !== example && (
                <button type="button" className="link text-label" onClick={() => choose(type.name)}>
                  Fill in the example
                </button>
              )
            }
          />
          <Options draft={draft} agents={agents} />
          {publishing.error && (
            <p role="alert" className="text-table text-failed">
              {publishing.error.message}
            </p>
          )}
          <div className="flex flex-wrap items-center gap-3">
            <button type="submit" className="button-main" disabled={fault !== undefined || publishing.isPending}>
              <Icon name="publish" />
              {publishing.isPending ? 'Publishing…' : 'Publish'}
            </button>
            <span className="text-label text-muted">Ctrl+Enter in the payload does the same</span>
          </div>
        </form>
        <div className="flex min-w-0 flex-col gap-4">
          {value.published !== '' && (
            <Outcome correlationId={value.published} answer={answerText(publishing.data, value.published)} />
          )}
          <SchemaSection type={type} />
        </div>
      </div>
    </Page>
  );
}

function Options({ draft: { value, set }, agents }: { draft: Draft; agents: FormProps['agents'] }): ReactNode {
  return (
    <div className="flex flex-wrap items-end gap-3">
      <ListField label="Tags" placeholder="none" values={value.tag} onChange={(tag) => set({ tag })} />
      <TextField
        label="Correlation id"
        value={value.correlation_id}
        placeholder="a new one"
        onChange={(correlation_id) => set({ correlation_id })}
      />
      <ChoiceField
        label="Visibility"
        value={value.visibility}
        choices={VISIBILITIES.map((kind) => ({ value: kind, text: kind }))}
        onChange={(visibility) => set({ visibility })}
      />
      {value.visibility === 'Private' && (
        <ListField
          label="Agents that see it"
          placeholder="none"
          values={value.agent}
          suggestions={agents.map(({ name }) => name)}
          onChange={(agent) => set({ agent })}
        />
      )}
      {value.visibility === 'Labelled' && (
        <ListField
          label="Required labels"
          placeholder="none"
          values={value.label}
          onChange={(label) => set({ label })}
        />
      )}
      {value.visibility === 'Tenant' && (
        <TextField label="Tenant" value={value.tenant} placeholder="all" onChange={(tenant) => set({ tenant })} />
      )}
      {value.visibility === 'After' && (
        <TextField label="Hidden for" value={value.ttl} placeholder="PT1H" onChange={(ttl) => set({ ttl })} />
      )}
    </div>
  );
}

interface PublishCall extends ShownRequest {
  path: '/api/v1/artifacts' | '/api/v1/artifacts/sync';
  body: Schemas['PublishRequest'] & { timeout?: number };
}

function requestOf(type: string, payload: Record<string, unknown>, value: Draft['value']): PublishCall {
  const { tag: tags, correlation_id: id, wait } = value;
  const body = { type, payload, visibility: visibilityOf(value), ...(tags.length > 0 && { tags }) };
  return {
    method: 'POST',
    path: wait === 'yes' ? '/api/v1/artifacts/sync' : '/api/v1/artifacts',
    headers: id === '' ? {} : { 'X-Correlation-ID': id },
    body: wait === 'yes' ? { ...body, timeout: WAIT_SECONDS } : body,
  };
}

interface Published {
  correlationId: string;
  /** The answer of the service after it has waited. */
  waited?: Schemas['SyncPublishBody'];
}

async function publish({ headers, body }: PublishCall, isAwaited: boolean): Promise<Published> {
  if (isAwaited) {
    const waited = await answered(
      api.POST('/api/v1/artifacts/sync', { headers, body: { timeout: WAIT_SECONDS, ...body } }),
    );
    return { correlationId: waited.correlation_id, waited };
  }
  const exchange = api.POST('/api/v1/artifacts', { headers, body });
  await answered(exchange);
  return { correlationId: (await exchange).response.headers.get('X-Correlation-ID')! };
}

function answerText(published: Published | undefined, correlationId: string): string | undefined {
  if (published?.correlationId !== correlationId || published.waited === undefined) return undefined;
  const { completed, duration_ms } = published.waited;
  return completed
    ? `The agents completed the work in ${durationText(duration_ms)}.`
    : `The work continues; the service answered after ${durationText(duration_ms)}.`;
}
