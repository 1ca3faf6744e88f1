// Opens the web app of the application in a real browser. Most pages are open while agents work, and are not loaded again.
import type { Page } from 'playwright-core';

import { durationText, numberText, shareText } from '../../../dashboard/src/formats.js';
import { describeDashboard, openTab } from '../../support/page-checks.js';
import { printedSeed, Random } from '../../support/random.js';
import { Receiver } from '../../support/receiver.js';
import { RandomWork, type Schemas, WORK } from './random-work.js';
import {
  agree,
  facetsShown,
  metersShown,
  overviewShown,
  rowsShown,
  tableShown,
  timelineShown,
  verdictsShown,
  waitsShown,
} from './shown.js';

/** All rows of the lists fit into it. */
const LOOK = { colorScheme: 'light', width: 1_920, height: 9_000 } as const;

describeDashboard('what the views show after random work', WORK, (dashboard) => {
  let receiver: Receiver;
  const work = new RandomWork(
    () => dashboard.app,
    () => receiver,
  );

  beforeAll(async () => {
    receiver = await Receiver.start();
  });
  afterAll(() => receiver.close());

  /** The numbers of executions that ended and that failed, by agent. A retry by hand follows a failure. */
  const endsByAgent = async (): Promise<Record<string, string[]>> => {
    const ends: Record<string, { all: number; failed: number }> = {};
    for (const { agent, state, round } of await work.executions()) {
      const { all, failed } = ends[agent] ?? { all: 0, failed: 0 };
      const failures = round + Number(state === 'failed');
      ends[agent] = { all: all + failures + Number(state === 'completed'), failed: failed + failures };
    }
    return Object.fromEntries(
      Object.entries(ends)
        .filter(([, { all }]) => all > 0)
        .map(([agent, { all, failed }]) => [agent, endsText(all, failed)]),
    );
  };

  const groups = async (): Promise<Schemas['OpenGroupBody'][]> =>
    (await work.get<Schemas['WaitingGroupsBody']>('/api/v1/waiting?limit=500')).items;
  const deliveries = async (): Promise<Schemas['DeliveryBody'][]> =>
    (await work.get<Schemas['DeliveryListBody']>('/api/v1/webhooks/deliveries?limit=500')).items;

  it('equals what the API says', async () => {
    const { page: overview } = await dashboard.open(LOOK);
    const newTab = async (): Promise<Page> => (await openTab(overview.context())).page;
    const show = async (path: string, page?: Page): Promise<Page> => {
      const tab = page ?? (await newTab());
      await tab.goto(`${dashboard.app.url}/dashboard${path}`);
      await tab.getByText('Live', { exact: true }).waitFor();
      return tab;
    };
    // Counts without an event are polled. The clocks of these pages are moved, so that the test does not wait for that.
    const agents = await newTab();
    const sent = await newTab();
    const polling = [overview, agents, sent];
    for (const page of polling) await page.clock.install();
    await show('', overview);
    await show('/agents', agents);
    await show('/deliveries', sent);
    const correlations = await show('/correlations');
    const correlation = await show('/correlations/order-1');
    const artifacts = await show('/artifacts');
    const executions = await show('/executions');
    const waiting = await show('/waiting');
    const inbox = await show('/inbox');
    const changelog = await show('/changelog?kind=artifact_published');

    const random = new Random(printedSeed());
    const batch = await work.run(random);
    for (const page of polling) await page.clock.fastForward(60_000);

    await agree('artifacts', rowsShown, artifacts, async () =>
      (await work.get<Schemas['ArtifactListBody']>('/api/v1/artifacts?order=desc&limit=500')).items.map((item) => ({
        Type: item.type,
        Payload: JSON.stringify(item.payload).slice(0, 300),
        Producer: item.produced_by,
        Correlation: item.correlation_id,
        Tags: item.tags.join(', '),
        Id: item.id,
      })),
    );
    await agree('counts of artifacts', facetsShown, artifacts, async () => {
      const { summary } = await work.get<Schemas['SummaryBody']>('/api/v1/artifacts/summary');
      const { by_type, by_producer, by_visibility } = summary;
      expect(await artifacts.getByText(`${summary.total_count} artifacts`, { exact: true }).count()).toBe(1);
      return { Types: by_type, Producers: by_producer, Visibility: by_visibility };
    });
    await agree('executions', rowsShown, executions, async () =>
      (await work.executions()).map((item) => ({
        State: item.state === 'pending' && item.next_attempt_at !== null ? 'retrying' : item.state,
        Agent: item.agent,
        Attempt: item.round === 0 ? String(item.attempt) : `${item.attempt} (retry ${item.round})`,
        Correlation: item.correlation_id,
        Id: item.id,
        ...(item.error_message !== null && { Error: `${item.error_type} ${item.error_message}` }),
      })),
    );
    await agree('correlations', rowsShown, correlations, async () =>
      (await work.correlations()).map((item) => ({
        State: item.state,
        Correlation: item.correlation_id,
        Artifacts: String(item.artifact_count),
        Errors: String(item.error_count),
        Pending: item.pending_count === 0 ? '' : String(item.pending_count),
      })),
    );
    await agree('timeline', timelineShown, correlation, async () => {
      const trace = await work.get<Schemas['TraceBody']>('/api/v1/correlations/order-1/trace?limit=500');
      expect(await correlation.getByRole('heading', { level: 1 }).innerText()).toContain(trace.state);
      await correlation.getByText(new RegExp(`^${trace.artifact_count} artifacts?$`)).waitFor();
      const published = trace.artifacts.filter(({ execution_id }) => execution_id === null);
      return [
        ...published.map(({ type }) => `published ${type}`),
        ...trace.executions.map(({ state, agent, attempts }) => {
          const shown = state === 'pending' && attempts.length > 0 ? 'retrying' : state;
          return `${shown} ${agent}${attempts.length > 1 ? ` × ${attempts.length}` : ''}`;
        }),
      ].sort();
    });
    await agree('what a correlation waits for', waitsShown, correlation, async () => {
      const said = await work.get<Schemas['CorrelationWaitingBody']>('/api/v1/correlations/order-1/waiting?limit=8');
      const all = Object.values(said.counts ?? {}).reduce((sum, count) => sum + count, 0);
      return { agents: said.items.flatMap((item) => ('agent' in item ? [item.agent] : [])), all };
    });
    await agree('waiting groups', rowsShown, waiting, async () =>
      (await groups()).map(({ kind, agent, subscription, join_key: key, waiting_for, size, size_needed }) => ({
        Kind: kind === 'join' ? 'Join' : 'Batch window',
        Agent: agent,
        Subscription: String(subscription! + 1),
        Key: key ?? '–',
        Missing: kind === 'join' ? waiting_for.join(', ') : `${size_needed! - size} more`,
      })),
    );
    await agree('tasks', rowsShown, inbox, async () =>
      (await work.executions('external=true')).map(({ agent, state, claimed_by, assignee }) => ({
        Task: agent,
        State: state === 'running' ? (expect.stringMatching(`^claimed\\s+${claimed_by}$`) as string) : 'pending',
        For: assignee ?? 'anyone',
      })),
    );
    await agree('changelog', rowsShown, changelog, async () => {
      const { items } = await work.get<Schemas['ChangelogEventsBody']>('/api/v1/changelog/events?order=desc&limit=500');
      return (items as Schemas['ChangelogEntryBody'][]).map((event) => ({
        What: event.artifact_type,
        Details: event.produced_by === 'external' ? 'by a client' : `by ${event.produced_by}`,
        Correlation: event.correlation_id,
        Position: numberText(event.seq),
      }));
    });
    await agree('deliveries', rowsShown, sent, async () =>
      (await deliveries()).map(({ state, attempt, target_origin, correlation_id, artifact_id }) => ({
        State: state === 'pending' && attempt > 1 ? 'retrying' : state,
        Target: target_origin,
        Attempt: String(attempt),
        Correlation: correlation_id,
        Artifact: artifact_id,
      })),
    );
    await agree('agents', rowsShown, agents, async () => {
      const ends = await endsByAgent();
      const { agents: active } = await work.get<Schemas['ActivityBody']>('/api/v1/activity?window=1h&step=15m');
      return (await work.get<Schemas['AgentsBody']>('/api/v1/agents')).agents.map(({ name }) => {
        const [ended, failed] = ends[name] ?? endsText(0, 0);
        const took = active.find(({ agent }) => agent === name)?.duration_ms;
        const text = (ms: number | undefined): string => (ms === undefined ? '–' : durationText(ms));
        return { Agent: name, Ended: ended, Failed: failed, p50: text(took?.p50), p95: text(took?.p95) };
      });
    });
    const open = await work.executions('state=pending');
    const waitingFor = (isMeant: (one: Schemas['ListedExecutionBody']) => boolean): string =>
      String(open.filter(isMeant).length);
    const grouped = (await groups()).reduce((sum, { size }) => sum + size, 0);
    await agree('overview', overviewShown, overview, async () => ({
      tiles: {
        Running: String((await work.executions('state=running')).length),
        Queued: waitingFor(({ agent }) => agent === 'furnace'),
        Retrying: waitingFor(({ next_attempt_at: next }) => next !== null),
        'For limits': '0',
        Paused: waitingFor(({ agent }) => agent === 'clerk'),
        'In joins': String(grouped),
        'For people': String((await work.executions('external=true')).length),
        Hidden: '1',
        'No agent': '0',
        Deliveries: String(
          (await deliveries()).filter(({ state }) => state !== 'delivered' && state !== 'dead').length,
        ),
      },
      agents: await endsByAgent(),
      newest: (await work.correlations()).slice(0, 8).map((item) => [item.state, item.correlation_id]),
      failures: (await work.executions('state=failed'))
        .slice(0, 6)
        .map((item) => [item.agent, `${item.error_type}: ${item.error_message}`]),
    }));
    await agree('backlog', metersShown, overview, () =>
      Promise.resolve({
        'Waiting executions': open.length,
        'Waiting artifacts': grouped + 1,
        'Executions without an agent': 0,
      }),
    );
    for (const tab of [correlations, correlation, artifacts, executions, waiting, inbox, changelog]) await tab.close();

    const { artifacts: traced } = await work.get<Schemas['TraceBody']>('/api/v1/correlations/order-1/trace?limit=500');
    const { id, type } = traced[random.between(0, traced.length - 1)]!;
    await agree(`verdicts on ${type} ${id}`, verdictsShown, await show(`/artifacts/${id}`, sent), async () =>
      (await work.get<Schemas['ExplanationBody']>(`/api/v1/artifacts/${id}/explain`)).verdicts
        .map(({ agent, verdict, detail }) => `${agent}; ${verdict.replaceAll('_', ' ')}; ${detail}`)
        .sort(),
    );
    await agree('groups of failures', rowsShown, await show('/executions?view=failures', sent), async () =>
      (await work.get<Schemas['FailureListBody']>('/api/v1/executions/failures?limit=50')).items.map((group) => ({
        Failed: String(group.count),
        Agent: group.agent,
        Error: `${group.error_type} ${group.message}`,
      })),
    );
    const { items: batches } = await work.get<Schemas['BatchListBody']>('/api/v1/batches');
    await agree('batches', rowsShown, await show('/batches', sent), () =>
      Promise.resolve(
        batches.map((one) => ({
          State: one.status,
          Agent: one.agent_name,
          Items: `${one.completed_items} / ${one.total_items}`,
          Failed: String(one.failed_items),
        })),
      ),
    );
    await show(`/batches/${batch}`, sent);
    await agree('results of a batch', rowsShown, sent, async () =>
      (await work.get<Schemas['BatchBody']>(`/batch/${batch}?results_limit=100`)).results.map((item) => ({
        Row: String(item.index),
        State: item.status,
        Result: item.error ?? JSON.stringify(item.result),
        Run: item.run_id,
      })),
    );
    await agree('failures of a batch', tableShown('Why items failed'), sent, async () =>
      (await work.get<Schemas['BatchFailuresBody']>(`/batch/${batch}/failures`)).groups.map((group) => [
        String(group.items),
        group.message,
        `row ${group.first_index}`,
      ]),
    );
    await agree('graph', tableShown('Agents'), await show('/graph?as=table', sent), async () => {
      const ends = await endsByAgent();
      const open = await groups();
      return (await work.get<Schemas['AgentsBody']>('/api/v1/agents')).agents.map(({ name, subscriptions }) => {
        const [ended, failed] = ends[name] ?? endsText(0, 0);
        const count = open.filter(({ agent }) => agent === name).length;
        const groupedBy = subscriptions.find(({ window, types }) => window ?? types.length > 1);
        const shown = groupedBy === undefined ? '–' : (expect.stringMatching(new RegExp(`, ${count} open$`)) as string);
        return [name, expect.any(String) as string, shown, expect.any(String) as string, ended, failed];
      });
    });
    await agree('history of an agent', tableShown('History'), await show('/agents/maker', sent), async () => {
      const { summary } = await work.get<Schemas['HistoryBody']>('/api/v1/agents/maker/history-summary');
      const { total_executions, total_artifacts_consumed, total_artifacts_produced } = summary;
      await sent
        .getByText(
          `${total_executions} ended executions, ${total_artifacts_consumed} artifacts consumed, ${total_artifacts_produced} published`,
        )
        .waitFor();
      return Object.entries(summary.execution_timeline)
        .sort(([one], [other]) => other.localeCompare(one))
        .map(([, { executions: all, failures }]) => [expect.any(String) as string, ...endsText(all, failures)]);
    });
  });
});

const endsText = (all: number, failed: number): string[] => [
  String(all),
  failed === 0 ? '0' : `${failed} (${shareText(failed / all)})`,
];
