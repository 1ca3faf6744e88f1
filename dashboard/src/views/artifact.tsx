import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { useApi } from '../api/queries';
import type { Answer } from '../api/requests';
import { text, useFilters } from '../app/filters';
import { CopyButton, CurlButton, IdChip } from '../components/copy';
import { TextField } from '../components/fields';
import { JsonTree } from '../components/json-tree';
import { Page } from '../components/page';
import { Section } from '../components/section';
import { Failure, LoadingRows } from '../components/states';
import { Ago } from '../components/time';
import { Origin } from './artifact/origin';
import { Verdicts } from './artifact/verdicts';

const PATH = '/api/v1/artifacts/{artifact_id}';

type Artifact = Answer<typeof PATH>;

export default function ArtifactView(): ReactNode {
  const { id = '' }: { id?: string } = useParams({ strict: false });
  const params = { path: { artifact_id: id } };
  const { data: artifact, error, refetch } = useApi(PATH, params);
  const body = (): ReactNode => {
    if (error && !artifact) return <Failure error={error} retry={() => void refetch()} />;
    if (!artifact) return <LoadingRows />;
    return (
      <div className="grid items-start gap-4 xl:grid-cols-2">
        <div className="flex min-w-0 flex-col gap-4">
          <Payload payload={artifact.payload} />
          <Origin artifact={artifact} />
        </div>
        <Verdicts artifact={artifact} />
      </div>
    );
  };
  return (
    <Page
      title={artifact?.type ?? 'Artifact'}
      about={artifact ? <About artifact={artifact} /> : <span className="font-mono">{id}</span>}
      actions={<CurlButton request={{ path: PATH, params }} />}
    >
      {body()}
    </Page>
  );
}

function About({ artifact }: { artifact: Artifact }): ReactNode {
  const { id, correlation_id, created_at, version, tags, partition_key, visibility } = artifact;
  const facts = [
    <IdChip key="id" id={id} what="artifact" />,
    <>
      published <Ago at={created_at} />
    </>,
    <>
      correlation{' '}
      <IdChip
        id={correlation_id}
        what="correlation"
        to={{ to: '/correlations/$id', params: { id: correlation_id }, search: { selected: id } }}
      />
    </>,
    visibilityText(visibility),
    `version ${version} of its type`,
    tags.length > 0 && `tags: ${tags.join(', ')}`,
    partition_key !== null && `partition key: ${partition_key}`,
  ].filter(Boolean);
  return (
    <ul className="flex flex-wrap items-center gap-x-4">
      {facts.map((fact, index) => (
        <li key={index}>{fact}</li>
      ))}
    </ul>
  );
}

function visibilityText(visibility: Artifact['visibility']): string {
  switch (visibility.kind) {
    case 'Public':
      return 'visible to all agents';
    case 'Private':
      return `visible to ${visibility.agents.join(', ')}`;
    case 'Labelled':
      return `visible to agents with ${visibility.required_labels.join(' and ')}`;
    case 'Tenant':
      return visibility.tenant_id === null ? 'visible to all tenants' : `visible to the tenant ${visibility.tenant_id}`;
    case 'After':
      return `hidden for ${visibility.ttl} after it was published`;
  }
}

function Payload({ payload }: { payload: unknown }): ReactNode {
  const { value, set } = useFilters({ find: text });
  return (
    <Section
      title="Payload"
      actions={<CopyButton text={() => JSON.stringify(payload, undefined, 2)} label="Copy payload" />}
    >
      <div className="flex flex-col gap-3 p-3">
        <TextField label="Find in the payload" type="search" value={value.find} onChange={(find) => set({ find })} />
        <JsonTree value={payload} search={value.find} />
      </div>
    </Section>
  );
}
