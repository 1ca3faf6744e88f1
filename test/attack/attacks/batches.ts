import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

import { ask, atOnce, type Attack, byConnections, MIB, open, repeat } from './attack.js';

const BOUNDARY = 'attack';
const TYPE = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
const END = `--${BOUNDARY}--\r\n`;

const part = (name: string, content: string, filename?: string): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? '' : `; filename="${filename}"`}\r\n\r\n${content}\r\n`;

const csv = (content: string): string =>
  part('file', content, 'x.csv') + part('request', '{"agent_name":"clerk"}') + END;

const uploads = (what: string, makeBody: () => string): Attack => ({
  name: `uploads of ${what}, four in parallel`,
  mostStoredMib: 64,
  run: (target) => {
    const body = makeBody();
    return atOnce(target, 4, () => ({ path: '/run/batch', headers: TYPE, body }));
  },
});

/** Sends a million chunks of one byte on each of three connections and finishes none of the bodies. */
const tinyChunks = (what: string, type: string, text: string): Attack => ({
  name: `3 unfinished bodies of a million chunks of one byte, ${what}`,
  run: byConnections(async (connections) => {
    const head = [
      'POST /run/batch HTTP/1.1',
      'Host: localhost',
      `Content-Type: ${type}`,
      'Transfer-Encoding: chunked',
      '',
      text.length.toString(16),
      text,
      '',
    ];
    await open(connections, 3, head.join('\r\n'));
    await repeat(50, 200, () => connections.writeToAll('1\r\nx\r\n'.repeat(20_000)));
  }),
});

const begunPart = (disposition: string): string =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`;

export const BATCHES: Attack[] = [
  tinyChunks('of the request of an upload', TYPE['content-type'], begunPart('name="request"; filename="r"')),
  tinyChunks('of the request of an upload as a plain field', TYPE['content-type'], begunPart('name="request"')),
  tinyChunks('of the file of an upload', TYPE['content-type'], begunPart('name="file"; filename="x.csv"')),
  tinyChunks('of a list', 'application/json', `{"agent_name":"clerk","batch_inputs":[{"a":"${'x'.repeat(70_000)}`),
  {
    name: 'a list of 5,000 items that share a megabyte of static inputs',
    mostStoredMib: 64,
    async run(target) {
      const body = {
        agent_name: 'clerk',
        max_workers: 1_000,
        static_inputs: { a: 'x'.repeat(1_000_000) },
        batch_inputs: Array.from({ length: 5_000 }, () => ({})),
      };
      const answer = await ask(target, { path: '/run/batch', body });
      await delay(5_000);
      const { batch_id } = JSON.parse(answer.text) as { batch_id?: string };
      return batch_id === undefined
        ? [answer]
        : [answer, await ask(target, { path: `/batch/${batch_id}/cancel`, body: {} })];
    },
  },
  {
    name: 'lists of 20,000 items that share the largest static inputs',
    mostStoredMib: 64,
    run: (target) => {
      const body = JSON.stringify({
        agent_name: 'clerk',
        max_workers: 1_000,
        static_inputs: { a: 'x'.repeat(65_000) },
        batch_inputs: Array.from({ length: 20_000 }, () => ({})),
      });
      return atOnce(target, 8, () => ({ path: '/run/batch', body }));
    },
  },
  {
    name: 'lists whose mapping gives every item a name of a megabyte',
    mostStoredMib: 64,
    run: (target) => {
      const body = gzipSync(
        JSON.stringify({
          agent_name: 'clerk',
          input_mapping: { a: 'x'.repeat(1_000_000) },
          batch_inputs: Array.from({ length: 80 }, () => ({ a: 1 })),
        }),
      );
      return atOnce(target, 4, () => ({ path: '/run/batch', headers: { 'content-encoding': 'gzip' }, body }));
    },
  },
  uploads(
    'rows whose mapping gives each a name of 65,000 characters',
    () =>
      part('file', `a\n${'1\n'.repeat(1_000)}`, 'x.csv') +
      part('request', JSON.stringify({ agent_name: 'clerk', input_mapping: { a: 'x'.repeat(65_000) } })) +
      END,
  ),
  uploads('a thousand parts', () => Array.from({ length: 1_000 }, (_, n) => part(`p${n}`, 'x')).join('') + END),
  uploads('a field name of a megabyte', () => part('n'.repeat(MIB), 'x') + END),
  uploads('a file name of a megabyte', () => part('file', 'a\n1\n', 'f'.repeat(MIB)) + END),
  uploads('40 MB of quotes that are never closed', () => csv(`a\n"${'""'.repeat(20 * MIB)}`)),
  uploads('a million empty lines', () => csv(`a\n${'\n'.repeat(MIB)}1\n`)),
  uploads('a header of 200,000 columns', () => csv(`${Array.from({ length: 200_000 }, (_, n) => `c${n}`).join()}\n`)),
  uploads('2,000 empty rows of 1,000 columns with names of 200 characters', () =>
    csv(
      `${Array.from({ length: 1_000 }, (_, n) => `${n}`.padEnd(200, 'c')).join()}\n${`${','.repeat(999)}\n`.repeat(2_000)}`,
    ),
  ),
];
