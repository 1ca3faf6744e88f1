import type { ExperimentBody } from '../../src/features/experiments/dto/experiment-body.js';
import type { ExperimentRowBody, ExperimentRowsBody } from '../../src/features/experiments/dto/experiment-rows.js';
import type {
  VariantComparisonBody,
  VariantSummaryBody,
} from '../../src/features/experiments/dto/experiment-summary.js';
import type { TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';

/** Starts and reads experiments as a client does. */
export class Experiments {
  constructor(private readonly http: TestApp['http']) {}

  post(body: object) {
    return this.http.post('/api/v1/experiments').send(body);
  }

  async start(body: object): Promise<string> {
    const answer = await this.post(body);
    expect([answer.status, answer.body]).toEqual([200, answer.body]);
    return (answer.body as ExperimentBody).experiment_id;
  }

  async get(id: string): Promise<ExperimentBody> {
    return (await this.http.get(`/api/v1/experiments/${id}`).expect(200)).body as ExperimentBody;
  }

  async ended(id: string): Promise<ExperimentBody> {
    let found = await this.get(id);
    await eventually(`experiment ${id} has ended`, async () => {
      found = await this.get(id);
      return found.state !== 'running';
    });
    return found;
  }

  async run(body: object): Promise<ExperimentBody> {
    return this.ended(await this.start(body));
  }

  async page(id: string, query: object = {}): Promise<ExperimentRowsBody> {
    const answer = await this.http.get(`/api/v1/experiments/${id}/rows`).query(query).expect(200);
    return answer.body as ExperimentRowsBody;
  }

  /** All rows, page by page. */
  async rows(id: string, query: object = {}): Promise<ExperimentRowBody[]> {
    const rows: ExperimentRowBody[] = [];
    for (let after: string | null | undefined; after !== null;) {
      const { items, pagination } = await this.page(id, { ...query, ...(after !== undefined && { after }) });
      rows.push(...items);
      after = pagination.next;
    }
    return rows;
  }
}

export const comparisonOf = ({ summary }: ExperimentBody, variant: string, scorer: string): VariantComparisonBody =>
  summary!.comparisons.find((each) => each.variant === variant && each.scorer === scorer)!;

export const variantOf = ({ summary }: ExperimentBody, variant: string): VariantSummaryBody =>
  summary!.variants.find((each) => each.variant === variant)!;

export const meansOf = (experiment: ExperimentBody, scorer: string): (number | null)[] =>
  experiment.summary!.variants.map(({ scores }) => scores.find((each) => each.scorer === scorer)!.mean);
