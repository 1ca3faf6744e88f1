import type { Answered } from '../requests.js';
import { atOnce, type Attack, type Target } from './attack.js';

const LISTS = ['/api/v1/artifacts', '/api/v1/artifacts/summary', '/api/v1/agents/ponger/history-summary'];

const values = (name: string, count: number): string =>
  Array.from({ length: count }, (_, n) => `${name}=${name}-${n}`).join('&');

async function reads(target: Target, paths: string[], rounds: number): Promise<Answered[]> {
  const answers: Answered[] = [];
  for (let round = 0; round < rounds; round += 1)
    answers.push(...(await atOnce(target, paths.length, (n) => ({ path: paths[n]! }))));
  return answers;
}

const tags = (count: number): Attack => ({
  name: `filters of ${count} tags, six in parallel`,
  run: (target) =>
    reads(
      target,
      [...LISTS, ...LISTS].map((list) => `${list}?${values('tag', count)}`),
      3,
    ),
});

const kinds = (count: number): Attack => ({
  name: `filters of ${count} values of each kind`,
  run: (target) => {
    const all = ['type', 'produced_by', 'visibility'].map((name) => values(name, count)).join('&');
    return reads(
      target,
      LISTS.map((list) => `${list}?${all}&${values('tag', 10)}`),
      5,
    );
  },
});

export const FILTERS: Attack[] = [
  tags(10),
  tags(64),
  tags(100),
  kinds(13),
  kinds(100),
  {
    name: 'filters of the changelog with 48 values',
    run: (target) => {
      const all = ['correlation_id', 'artifact_type', 'produced_by'].map((name) => values(name, 16)).join('&');
      return reads(
        target,
        Array.from({ length: 10 }, () => `/api/v1/changelog/events?limit=500&${all}`),
        5,
      );
    },
  },
  {
    name: '15 KB of unknown parameters',
    run: (target) => {
      const query = Array.from({ length: 3_000 }, (_, n) => `a${n}`)
        .join('&')
        .slice(0, 15_000);
      return reads(
        target,
        Array.from({ length: 20 }, () => `/api/v1/artifacts?${query}`),
        10,
      );
    },
  },
];
