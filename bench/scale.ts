import type { LoadGenerator, Server } from './children.ts';
import {
  ACTIVE_AGENT,
  ASSIGNEE,
  correlationOf,
  createdAt,
  FAILURE_GROUP,
  groupOf,
  PER_CORRELATION,
  PER_TAG,
  PRODUCERS,
  SELDOM_AGENT,
  SELDOM_ERROR,
  SELDOM_FAILURE_GROUP,
  tagOf,
  TYPES,
  VISIBILITIES,
  waitingPlaces,
} from './history.ts';
import { get, type LoadRequest, post } from './load.ts';
import { CONNECTIONS } from './requests.ts';
import { milliseconds, printCells, type Row } from './row.ts';
import { median } from './statistics.ts';

export const SMALL = 10_000;
export const LARGE = 1_000_000;

const RUNS = 3;
const SECONDS = 1;

/** A service with a history of this many artifacts. */
export interface History {
  server: Server;
  artifacts: number;
}

/** Measures the p95 of each query on a large history and on a small one, in turn. */
export class Scale {
  private readonly generator: LoadGenerator;
  private readonly small: History;
  private readonly large: History;

  constructor(generator: LoadGenerator, small: History, large: History) {
    this.generator = generator;
    this.small = small;
    this.large = large;
  }

  /** Returns the worst of all, after printing each of them. */
  async row(): Promise<Row> {
    const results: { name: string; small: number; large: number; ratio: number }[] = [];
    for (const name of queriesOf(this.small.artifacts).keys()) {
      const { small, large } = await this.compare(name);
      results.push({ name, small, large, ratio: large / small });
    }
    const lines = results.map(({ name, small, large, ratio }) => [
      name,
      milliseconds(small),
      milliseconds(large),
      ratio.toFixed(2),
    ]);
    printCells([
      ['p95 of', `${this.small.artifacts} artifacts`, `${this.large.artifacts} artifacts`, 'ratio'],
      ...lines,
    ]);
    console.log();
    const worst = results.reduce((one, other) => (other.ratio > one.ratio ? other : one));
    return {
      work: `${this.large.artifacts} against ${this.small.artifacts} artifacts, p95 ratio, worst of ${results.length}`,
      value: worst.ratio,
      atLeast: 2,
      aim: 1.2,
      better: 'lower',
      unit: '',
      measured: `${worst.name}: ${milliseconds(worst.large)}`,
      baseline: milliseconds(worst.small),
    };
  }

  private async compare(name: string): Promise<{ small: number; large: number }> {
    await this.p95(this.small, name);
    await this.p95(this.large, name);
    const runs: { small: number; large: number }[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      runs.push({ small: await this.p95(this.small, name), large: await this.p95(this.large, name) });
    }
    return { small: median(runs.map(({ small }) => small)), large: median(runs.map(({ large }) => large)) };
  }

  private async p95({ server, artifacts }: History, name: string): Promise<number> {
    const requests = queriesOf(artifacts).get(name)!;
    const { p95 } = await this.generator.run({
      url: server.url,
      requests,
      connections: CONNECTIONS,
      until: { seconds: SECONDS },
    });
    return p95;
  }
}

/** Ten places, spread evenly over a history: as many different correlations, tags and time ranges. */
const placesIn = (artifacts: number): number[] => Array.from({ length: 10 }, (_, place) => (place * artifacts) / 10);

function queriesOf(artifacts: number): Map<string, LoadRequest[]> {
  const places = placesIn(artifacts);
  const correlations = places.map((place) => correlationOf(place + PER_CORRELATION));
  const tags = placesIn(artifacts / PER_TAG).map((lot) => tagOf(lot, artifacts));
  const ranges = places.map((place) => `from=${iso(place)}&to=${iso(place + PER_TAG - 1)}`);
  const filters: Record<string, string[]> = {
    'no filter': [''],
    correlation: correlations.map((id) => `correlation_id=${id}`),
    type: TYPES.map((type) => `type=${type}`),
    producer: PRODUCERS.map((producer) => `produced_by=${producer}`),
    visibility: [...new Set(VISIBILITIES.map(({ kind }) => `visibility=${kind}`))],
    [`tag (${PER_TAG} match)`]: tags.map((tag) => `tag=${tag}`),
    [`from and to (${PER_TAG} match)`]: ranges,
  };
  const queries = new Map<string, LoadRequest[]>();
  for (const [name, queryStrings] of Object.entries(filters)) {
    queries.set(
      `list, ${name}`,
      queryStrings.map((query) => get(`/api/v1/artifacts?${query}`)),
    );
    queries.set(
      `summary, ${name}`,
      queryStrings.map((query) => get(`/api/v1/artifacts/summary?${query}`)),
    );
  }
  const lists: Record<string, string[]> = {
    'no filter': [''],
    'state of nearly all': ['state=completed'],
    'state (10 match)': ['active', 'failed', 'cancelled'].map((state) => `state=${state}`),
    'agent of nearly all': ['agent=joiner'],
    'agent (10 match)': [`agent=${SELDOM_AGENT}`],
    type: TYPES.map((type) => `type=${type}`),
    [`tag (${PER_TAG} match)`]: tags.map((tag) => `tag=${tag}`),
    [`from and to (${PER_TAG / PER_CORRELATION} match)`]: ranges,
    from: places.map((place) => `from=${iso(place)}`),
    to: places.map((place) => `to=${iso(place)}`),
    'state and type': TYPES.map((type) => `state=completed&type=${type}`),
    'state of nearly all and agent (10 match)': [`state=completed&agent=${SELDOM_AGENT}`],
    'type and state (10 match)': TYPES.map((type) => `type=${type}&state=failed`),
    // The last tenth of the numbers has the most digits, so that each of these is the beginning of one id only.
    'prefix (1 matches)': places.map((place) => `id_prefix=${correlationOf(artifacts - artifacts / 10 + place / 10)}`),
    'prefix of all': ['id_prefix=order-'],
    'prefix of all and agent (10 match)': [`id_prefix=order-&agent=${SELDOM_AGENT}`],
  };
  const executions: Record<string, string[]> = {
    'no filter': [''],
    'state of many': ['completed', 'failed'].map((state) => `state=${state}`),
    'state (10 match)': ['state=pending'],
    'agent of nearly all': ['agent=joiner'],
    'agent (10 match)': [`agent=${SELDOM_AGENT}`],
    'state of many and agent (10 match)': [`state=completed&agent=${SELDOM_AGENT}`],
    correlation: correlations.map((id) => `correlation_id=${id}`),
    'assignee (10 match)': [`assignee=${ASSIGNEE}`],
    'failure group': [`failure_group=${FAILURE_GROUP}`],
    'without an agent': ['without_agent=true'],
    external: ['external=true'],
  };
  const failures: Record<string, string[]> = {
    'no filter': [''],
    'agent of nearly all': ['agent=joiner'],
    'agent of none': [`agent=${ACTIVE_AGENT}`],
    'error type (1 matches)': [`error_type=${SELDOM_ERROR}`],
    from: places.map((place) => `from=${iso(place)}`),
    to: places.map((place) => `to=${iso(place)}`),
  };
  const activity: Record<string, string[]> = {
    '1 hour': ['window=1h'],
    '24 hours': ['window=24h'],
    '7 days': ['window=7d'],
    'an agent': [`window=24h&agent=${ACTIVE_AGENT}`],
    'steps of 1 hour': ['window=24h&step=1h'],
  };
  const routes = { correlations: lists, executions, 'executions/failures': failures, activity };
  for (const [path, filtered] of Object.entries(routes))
    for (const [name, queryStrings] of Object.entries(filtered))
      queries.set(
        `${path}, ${name}`,
        queryStrings.map((query) => get(`/api/v1/${path}?${query}`)),
      );
  queries.set('executions/retry, dry run (10 match)', [
    post('/api/v1/executions/retry', { group: SELDOM_FAILURE_GROUP, dry_run: true }),
  ]);
  queries.set('changelog, newest first', [get('/api/v1/changelog/events?order=desc')]);
  queries.set(
    'correlation trace',
    correlations.map((id) => get(`/api/v1/correlations/${id}/trace`)),
  );
  for (const path of [
    'api/v1/agents',
    `api/v1/agents/${ACTIVE_AGENT}/history-summary`,
    'api/v1/artifact-types',
    'api/v1/batches',
    'api/v1/operations',
    'api/v1/processes',
    'api/v1/runs',
    'api/v1/webhooks/deliveries',
    'api/v1/webhooks/targets',
    'metrics',
  ])
    queries.set(path, [get(`/${path}`)]);
  queries.set(
    'correlation status',
    correlations.map((id) => get(`/api/v1/correlations/${id}/status`)),
  );
  const waiting = waitingPlaces(artifacts);
  queries.set(
    'correlation waiting',
    waiting.map((place) => get(`/api/v1/correlations/${correlationOf(place)}/waiting`)),
  );
  queries.set('waiting groups', [get('/api/v1/waiting'), get('/api/v1/waiting?agent=joiner')]);
  queries.set(
    'waiting groups, correlation',
    waiting.map((place) => get(`/api/v1/waiting?correlation_id=${correlationOf(place)}`)),
  );
  queries.set(
    'waiting group',
    waiting.map((place) => get(`/api/v1/waiting/${groupOf(place)}`)),
  );
  return queries;
}

const iso = (index: number): string => new Date(createdAt(index)).toISOString();
