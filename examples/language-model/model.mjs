// Stands in for a language model, so that you can try llm agents without one. It speaks OpenAI's wire format (the Responses API,
// streamed), accepts any key, and always answers ANSWER. It needs only Node.js 18 or later.
//
// node model.mjs     (PORT, default 9003)
import { createServer } from 'node:http';

const { PORT = '9003', ANSWER = '{"text":"Your parcel is on its way. It will be with you tomorrow."}' } = process.env;

const server = createServer(async (request, response) => {
  if (request.method !== 'POST' || request.url !== '/v1/responses')
    return response.writeHead(404).end('this model answers at /v1/responses');
  let body = '';
  for await (const chunk of request) body += chunk;
  const { model, input } = JSON.parse(body);
  console.log(`${model} was asked:`);
  for (const { role, content } of input)
    console.log(`[${role}]\n${typeof content === 'string' ? content : content.map(({ text }) => text).join('')}`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of answering(model)) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
});
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`the model listens on http://127.0.0.1:${server.address().port}/v1`),
);

function* answering(model) {
  const message = { type: 'message', id: 'msg_1' };
  yield { type: 'response.created', response: { id: 'resp_1', created_at: 1, model } };
  yield { type: 'response.output_item.added', output_index: 0, item: message };
  for (const delta of ANSWER.match(/.{1,12}/gs))
    yield { type: 'response.output_text.delta', item_id: message.id, output_index: 0, content_index: 0, delta };
  yield { type: 'response.output_item.done', output_index: 0, item: message };
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 0 },
  };
  yield { type: 'response.completed', response: { usage } };
}
