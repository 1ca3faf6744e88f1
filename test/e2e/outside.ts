import type { TestApp } from '../support/app.js';
import type { WireArtifact } from './board.js';

/** A claimed execution, as its worker sees it. */
export interface Held {
  execution_id: string;
  correlation_id: string;
  agent: string;
  attempt: number;
  inputs: WireArtifact[];
  lease_token: string;
  lease_until: string;
  assignee: string | null;
  due_at: string | null;
  form: Record<string, object>;
}

export interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** A worker or a person, as a client of the service. */
export class Outside {
  constructor(private readonly http: TestApp['http']) {}

  async claim(body: object): Promise<Held[]> {
    const response = await this.http.post('/api/v1/executions/claim').send(body).expect(200);
    return (response.body as { executions: Held[] }).executions;
  }

  /** Claims the one that waits. */
  async claimOne(body: object): Promise<Held> {
    const [held, ...others] = await this.claim({ max: 2, ...body });
    expect([held?.execution_id, others]).toEqual([expect.any(String), []]);
    return held!;
  }

  /** Sends `body` with the lease token of `held`. */
  async send(
    held: Pick<Held, 'execution_id' | 'lease_token'>,
    what: 'heartbeat' | 'complete' | 'fail' | 'release',
    body: object = {},
  ): Promise<Answer> {
    const { status, body: answer } = await this.http
      .post(`/api/v1/executions/${held.execution_id}/${what}`)
      .send({ lease_token: held.lease_token, ...body });
    return { status, body: answer as Answer['body'] };
  }

  async execution(id: string): Promise<Record<string, unknown>> {
    return (await this.http.get(`/api/v1/executions/${id}`).expect(200)).body as Record<string, unknown>;
  }
}
