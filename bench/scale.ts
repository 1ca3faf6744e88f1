import type { LoadGenerator, Server } from './children.ts';
import {
  ACTIVE_AGENT,
  correlationOf,
  createdAt,
  groupOf,
  PER_CORRELATION,
  PER_TAG,
  PRODUCERS,
  tagOf,
  TYPES,
  VISIBILITIES,
  waitingPlaces,
} from './history.ts';
import { get, type LoadRequest } from './load.ts';
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
    state: ['state=completed'],
    agent: ['agent=joiner'],
    type: TYPES.map((type) => `type=${type}`),
    [`tag (${PER_TAG} match)`]: tags.map((tag) => `tag=${tag}`),
    [`from and to (${PER_TAG / PER_CORRELATION} match)`]: ranges,
    'state and type': TYPES.map((type) => `state=completed&type=${type}`),
    // The last tenth of the numbers has the most digits, so that each of these is the beginning of one id only.
    'prefix (1 matches)': places.map((place) => `id_prefix=${correlationOf(artifacts - artifacts / 10 + place / 10)}`),
    'prefix of all': ['id_prefix=order-'],
  };
  for (const [name, queryStrings] of Object.entries(lists)) {
    queries.set(
      `correlations, ${name}`,
      queryStrings.map((query) => get(`/api/v1/correlations?${query}`)),
    );
  }
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
  queries.set('failures', [get('/api/v1/executions/failures'), get('/api/v1/executions/failures?agent=joiner')]);
  queries.set(
    'activity',
    ['window=1h', 'window=24h', 'window=7d', `window=24h&agent=${ACTIVE_AGENT}`].map((query) =>
      get(`/api/v1/activity?${query}`),
    ),
  );
  return queries;
}

const iso = (index: number): string => new Date(createdAt(index)).toISOString();
