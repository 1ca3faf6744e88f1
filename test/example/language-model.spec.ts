// The first example of docs/llm.md, with the stand-in for a model that is among the examples. Real: both, the application, HTTP.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { blocksOf, readMarkdown } from '../docs/markdown.js';
import { Board } from '../e2e/board.js';
import { setKeys } from '../engines/llm/llm-board.js';

test('the first example of docs/llm.md answers as it is shown there', async () => {
  const docs = readMarkdown('docs/llm.md');
  const model = spawn(process.execPath, [resolve('examples/language-model/model.mjs')], { env: { PORT: '0' }, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const output = createInterface(model.stdout).on('line', (line) => lines.push(line));
  await once(output, 'line');
  setKeys();
  const board = await Board.start(blocksOf(docs, 'yaml')[0]!, { environment: { MODEL_URL: lines[0]!.split(' ').at(-1)! } });
  const { artifacts } = await board.publishSync('Question', { text: 'Where is my parcel?' }, { correlation: 'ticket-18' });
  expect(artifacts.map(({ type, payload }) => ({ type, payload }))).toEqual([{ type: 'Reply', payload: { text: 'Your parcel is on its way. It will be with you tomorrow.' } }]);
  const { text } = await board.http.get('/api/v1/correlations/ticket-18/status').expect(200);
  const shown = /^"usage":.*$/m.exec(docs)![0];
  expect(text).toContain(shown);
  expect(lines).toContain('{"type":"Question","produced_by":"external","payload":{"text":"Where is my parcel?"}}');
  await board.close();
  model.kill();
  await once(model, 'exit');
});
