import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';

interface Claimed {
  executions: { execution_id: string; lease_token: string }[];
}

/** Runs the built program, which serves one example after the other on one database, as all examples do by default. */
describe('an approval that waits while another example is served', () => {
  const folder = new ConfigurationFolder();
  let database: TestDatabase;
  let service: Service;

  beforeAll(async () => {
    database = await databaseOf(folder.path);
  });

  afterAll(async () => {
    await service.kill();
    await database.drop();
    folder.remove();
  });

  const serve = async (example: string): Promise<void> => {
    service = await Service.start([
      '--config',
      `examples/${example}/starling.yaml`,
      '--database-url',
      database.url,
      '--lease',
      '2s',
    ]);
  };
  const post = async <T>(path: string, body: object, headers: Record<string, string> = {}): Promise<T> => {
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as T;
    expect([response.status, answer]).toEqual([200, expect.anything()]);
    return answer;
  };
  const status = (): Promise<Record<string, unknown>> => service.get('/api/v1/correlations/invoice-7/status');
  const decide = async (claim: object, output: object): Promise<void> => {
    const { executions } = await post<Claimed>('/api/v1/executions/claim', { wait: 20, ...claim });
    await post(`/api/v1/executions/${executions[0]!.execution_id}/complete`, {
      lease_token: executions[0]!.lease_token,
      output,
    });
  };

  it('is decided when its own example is served again', async () => {
    await serve('approvals');
    await post(
      '/api/v1/artifacts',
      { type: 'Invoice', payload: { lines: [{ text: 'Lamps', amount: 395 }] } },
      { 'X-Correlation-ID': 'invoice-7' },
    );
    await decide({ agents: ['reader'] }, { total: 395 });
    const waiting = (): Promise<{ items: object[] }> => service.get('/api/v1/executions?state=pending&agent=approver');
    await eventually('the approval waits', async () => (await waiting()).items.length === 1);
    expect(await service.kill('SIGTERM')).toBe(0);

    await serve('support-desk');
    expect(await status()).toMatchObject({ state: 'active', error_count: 0, waiting_for_agents: ['approver'] });
    await eventually('the start is logged', () => service.log.some((line) => line.includes('"serving"')));
    const warned = service.log
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { level: string });
    expect(warned.filter(({ level }) => level === 'warn')).toMatchObject([
      { level: 'warn', agents: { approver: { executions: 1, groups: 0 } } },
    ]);
    const answer = await post<{ completed: boolean }>('/api/v1/artifacts/sync', {
      type: 'CustomerMessage',
      payload: { text: 'When will I get my card?' },
    });
    expect(answer).toMatchObject({ completed: true });
    expect(await service.kill('SIGTERM')).toBe(0);

    await serve('approvals');
    await decide({ agents: ['approver'], assignee: 'anna' }, { approved: true });
    await eventually('the invoice is paid', async () => (await status()).state === 'completed');
    expect(await status()).toMatchObject({ state: 'completed', error_count: 0, artifact_count: 4 });
  });
});
