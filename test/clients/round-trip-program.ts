/** A client's TypeScript program against the generated functions and types; prints its results as JSON. */
export const ROUND_TRIP = `
import { client } from './client/client.gen.js';
import * as api from './client/sdk.gen.js';
import type { ArtifactBody, ListedArtifactBody } from './client/types.gen.js';

client.setConfig({ baseUrl: process.argv[2]! });
const throwOnError = true;

const agentsAllowedBy = ({ visibility }: ArtifactBody): string[] => (visibility.kind === 'Private' ? visibility.agents : []);

const published = await api.artifactsPublish({
  body: { type: 'CustomerMessage', payload: { text: 'hello' }, tags: ['vip'], visibility: { kind: 'Private', agents: ['classifier'] } },
  headers: { 'X-Correlation-ID': 'order-1', 'X-Idempotency-Key': 'key-1' },
  throwOnError,
});
const again = await api.artifactsPublishAndWait({
  body: { type: 'CustomerMessage', payload: { text: 'hello again' }, timeout: 20, filters: { type_names: ['Intent'] } },
  headers: { 'X-Correlation-ID': 'order-1' },
  throwOnError,
});
const intent: ArtifactBody = again.data.artifacts[0]!;

const query = { correlation_id: 'order-1', type: ['CustomerMessage', 'Intent'], from: '2020-01-01T00:00:00Z', embed_meta: true, order: 'desc' as const, limit: 10 };
const { items, pagination } = (await api.artifactsList({ query, throwOnError })).data;
const oldest: ListedArtifactBody = items.at(-1)!;
const got = await api.artifactsGet({ path: { artifact_id: oldest.id }, throwOnError });
const { summary } = (await api.artifactsSummarize({ query: { tag: ['vip'] }, throwOnError })).data;

const { agents } = (await api.agentsList({ throwOnError })).data;
const run = await api.agentsRun({ path: { agent_name: 'classifier' }, body: { inputs: [{ type: 'CustomerMessage', payload: { text: 'x' } }] }, throwOnError });
const history = await api.agentsSummarizeHistory({ path: { agent_id: 'classifier' }, query: { type: ['CustomerMessage'] }, throwOnError });
const status = await api.correlationsStatus({ path: { correlation_id: 'order-1' }, throwOnError });
const { artifact_types } = (await api.artifactTypesList({ throwOnError })).data;
const health = await api.healthHealth({ throwOnError });

const refused = await api.artifactsPublish({ body: { type: 'CustomerMesage' } });
const missing = await api.agentsRun({ path: { agent_name: 'unknown' }, body: { inputs: [] } });

console.log(JSON.stringify({
  accepted: published.data.status,
  correlation: published.response.headers.get('X-Correlation-ID'),
  sync: { completed: again.data.completed, intent: intent.payload, producer: intent.produced_by },
  list: { types: items.map(({ type }) => type), total: pagination.total, consumers: oldest.consumed_by, allowed: agentsAllowedBy(oldest) },
  got: got.data.payload,
  summary: { total: summary.total_count, tags: summary.by_tag, kinds: summary.by_visibility },
  agents: agents.map(({ name, subscriptions, outputs }) => [name, subscriptions[0]!.mode, outputs]),
  run: run.data.artifacts.map(({ payload }) => payload),
  history: Object.values(history.data.summary.execution_timeline).reduce((sum, hour) => sum + hour.executions, 0),
  status: [status.data.state, status.data.has_pending_work, status.data.artifact_count],
  types: artifact_types.map(({ name, version }) => [name, version]),
  health: health.data.status,
  refused: [refused.response?.status, refused.error?.detail],
  missing: [missing.response?.status, missing.error?.detail],
}));
`;
