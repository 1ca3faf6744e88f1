import { startApp, type TestApp, type TestAppOptions } from '../support/app.js';
import { eventually } from '../support/eventually.js';

export interface WireArtifact {
  id: string;
  type: string;
  payload: Record<string, unknown>;
  produced_by: string;
  correlation_id: string;
  tags: string[];
  consumed_by?: string[];
}

export interface Status {
  state: string;
  has_pending_work: boolean;
  artifact_count: number;
  error_count: number;
}

export interface SyncAnswer {
  correlation_id: string;
  artifacts: WireArtifact[];
  completed: boolean;
  duration_ms: number;
}

export interface PublishParts {
  correlation?: string;
  tags?: string[];
  visibility?: object;
  partition_key?: string;
  timeout?: number;
  deadline?: string;
}

/** A separate app, and requests to it as a client sends them. */
export class Board {
  private constructor(readonly app: TestApp) {}

  static async start(config: string, options: TestAppOptions = {}): Promise<Board> {
    return new Board(await startApp({ config, ...options }));
  }

  get http(): TestApp['http'] {
    return this.app.http;
  }

  /** Publishes and returns the correlation id. */
  async publish(type: string, payload: object, parts: PublishParts = {}): Promise<string> {
    const { correlation, ...body } = parts;
    const call = this.http.post('/api/v1/artifacts').send({ type, payload, ...body });
    if (correlation) call.set('X-Correlation-ID', correlation);
    const response = await call;
    expect([response.status, response.body]).toEqual([200, { status: 'accepted' }]);
    return response.headers['x-correlation-id'] as string;
  }

  async publishSync(type: string, payload: object, parts: PublishParts = {}): Promise<SyncAnswer> {
    const { correlation, ...body } = parts;
    const call = this.http.post('/api/v1/artifacts/sync').send({ type, payload, ...body });
    if (correlation) call.set('X-Correlation-ID', correlation);
    const response = await call.expect(200);
    return response.body as SyncAnswer;
  }

  async status(correlation: string): Promise<Status> {
    return (await this.http.get(`/api/v1/correlations/${encodeURIComponent(correlation)}/status`).expect(200))
      .body as Status;
  }

  /** Waits until the correlation has finished, and returns its state. */
  async ended(correlation: string): Promise<Status> {
    let status = await this.status(correlation);
    await eventually(`correlation ${correlation} has finished`, async () => {
      status = await this.status(correlation);
      return status.state !== 'active';
    });
    return status;
  }

  /** Returns the correlation's artifacts, in order. */
  async artifacts(correlation: string, query: Record<string, unknown> = {}): Promise<WireArtifact[]> {
    const response = await this.http
      .get('/api/v1/artifacts')
      .query({ correlation_id: correlation, limit: 500, ...query })
      .expect(200);
    return (response.body as { items: WireArtifact[] }).items;
  }

  async types(correlation: string): Promise<string[]> {
    return (await this.artifacts(correlation)).map(({ type }) => type);
  }

  close(): Promise<void> {
    return this.app.close();
  }
}

/** Counts the artifacts of each type. */
export const tally = (names: string[]): Record<string, number> =>
  names.reduce<Record<string, number>>((counts, name) => ({ ...counts, [name]: (counts[name] ?? 0) + 1 }), {});
