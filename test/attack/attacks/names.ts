import type { Answered } from '../requests.js';
import { ask, atOnce, type Attack, inTurn } from './attack.js';

/** Attacks with many names, and with many artifacts under one name. */
export const NAMES: Attack[] = [
  {
    name: 'requests for hundreds of unknown names and methods',
    async run(target) {
      const answers: Answered[] = [];
      for (let n = 0; n < 100; n += 1) {
        const paths = [
          `/nothing/${n}`,
          `/run/${n}`,
          `/api/v1/agents/agent-${n}/history-summary`,
          `/api/v1/correlations/c-${n}/status`,
        ];
        answers.push(...(await atOnce(target, paths.length, (place) => ({ path: paths[place]! }))));
        answers.push(await ask(target, { path: '/api/v1/artifacts', body: { type: `Type${n}` } }));
        for (const method of ['PROPFIND', 'LINK'])
          answers.push(await ask(target, { path: '/agents', method: method as 'GET' }));
      }
      return answers;
    },
  },
  {
    name: '2,000 publishes into one correlation',
    run: (target) =>
      inTurn(target, 2_000, (n) => ({
        path: '/api/v1/artifacts',
        headers: { 'x-correlation-id': 'huge' },
        body: { type: 'Ping', payload: { n } },
      })),
  },
  {
    name: 'traces, lists and explanations of that correlation',
    async run(target) {
      const { text } = await ask(target, { path: '/api/v1/artifacts?correlation_id=huge&limit=1' });
      const [{ id } = { id: 'none' }] = (JSON.parse(text) as { items: { id: string }[] }).items;
      const paths = [
        '/api/v1/correlations/huge/trace',
        '/api/v1/correlations/huge/status',
        `/api/v1/artifacts/${id}/explain`,
        '/api/v1/artifacts?correlation_id=huge&limit=500&embed_meta=true',
      ];
      const answers: Answered[] = [];
      for (let round = 0; round < 10; round += 1)
        answers.push(...(await atOnce(target, paths.length, (place) => ({ path: paths[place]! }))));
      return answers;
    },
  },
];
