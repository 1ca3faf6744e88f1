import type { Test } from 'supertest';

import { describeInterfaceB } from './interface-b.js';
import { check, detail, timestamp } from './rows.js';

describeInterfaceB(({ get }) => {
  describe('GET /api/v1/activity', () => {
    const activity = (query = ''): Test => get(`/api/v1/activity?${query}`);

    check([
      ['does not know an unknown agent', () => activity('agent=nobody'), 404, detail('Agent not found: nobody')],
      ['refuses an unknown window', () => activity('window=30d'), 400, detail('window: must be one of 1h, 24h, 7d')],
      [
        'refuses an unknown step',
        () => activity('step=2m'),
        400,
        detail('step: must be one of 1m, 5m, 15m, 1h, 6h, 1d'),
      ],
      [
        'refuses a step that is as long as the window',
        () => activity('window=1h&step=1h'),
        400,
        detail('step: must be shorter than the window of 1h'),
      ],
      [
        'refuses a step that is finer than what is kept',
        () => activity('window=7d&step=15m&agent=router'),
        400,
        detail('step: must be at least 1h in a window of 7d'),
      ],
      [
        'refuses more steps than an answer for all agents has',
        () => activity('window=24h&step=5m'),
        400,
        detail('step: must be at least 15m in a window of 24h, unless agent names one agent'),
      ],
    ]);

    const quantiles = {
      p50: expect.any(Number) as number,
      p95: expect.any(Number) as number,
      p99: expect.any(Number) as number,
    };

    it.each([
      ['', '1h', '1m'],
      ['window=24h', '24h', '15m'],
      ['window=7d', '7d', '1h'],
      ['window=P1D&step=60m', '24h', '1h'],
      ['window=24h&step=1h', '24h', '1h'],
    ])('with "%s" has a window of %s in steps of %s', async (query, window, step) => {
      const { status, body } = await activity(query);
      const { agents, total, ...rest } = body as { agents: { agent: string }[]; total: object };
      expect([status, rest]).toEqual([200, { window, step, since: timestamp, from: timestamp, to: timestamp }]);
      expect(agents.map(({ agent }) => agent)).toEqual(agents.map(({ agent }) => agent).sort());
      const series = {
        starts: expect.any(Number) as number,
        ends: expect.any(Number) as number,
        failures: expect.any(Number) as number,
        retries: 0,
        duration_ms: quantiles,
        queue_ms: quantiles,
        steps: expect.any(Array) as unknown[],
      };
      expect(total).toEqual(series);
      expect(agents.find(({ agent }) => agent === 'supervisor')).toEqual({ agent: 'supervisor', ...series });
    });

    it('has every step of one agent, also where it did nothing', async () => {
      const { body } = await activity('window=24h&step=1m&agent=supervisor');
      const { total, agents, since, to } = body as {
        total: { steps: { start: string; starts: number; ends: number }[] };
        agents: object[];
        since: string;
        to: string;
      };
      expect(agents).toEqual([{ agent: 'supervisor', ...total }]);
      const minutes = total.steps.map(({ start }) => Date.parse(start) / 60_000);
      expect(minutes[0]).toBe(Math.floor(Date.parse(since) / 60_000));
      expect(minutes.at(-1)).toBe(Math.floor(Date.parse(to) / 60_000));
      for (const step of total.steps) {
        expect(step).toEqual({
          start: timestamp,
          starts: expect.any(Number) as number,
          ends: expect.any(Number) as number,
          failures: 0,
          retries: 0,
          duration_ms: step.ends > 0 ? quantiles : null,
          queue_ms: step.starts > 0 ? quantiles : null,
        });
      }
    });
  });
});
