// A model that answers immediately, streamed as OpenAI-compatible servers do; prints its address on standard output.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const chunk = (fields: object): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'instant', ...fields })}\n\n`;
const piece = (delta: object, finish_reason: string | null = null): string =>
  chunk({ choices: [{ index: 0, delta, finish_reason }] });

const ANSWER = [
  piece({ role: 'assistant', content: '' }),
  // Twenty pieces, as a short answer has.
  ...Array.from('{"text":"It will be there tomorrow."}'.match(/.{1,2}/g)!, (content) => piece({ content })),
  piece({}, 'stop'),
  chunk({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } }),
  'data: [DONE]\n\n',
].join('');

const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(ANSWER));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
