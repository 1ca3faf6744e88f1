import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request to a model server. */
export interface ModelRequest {
  /**
   * `responses` is OpenAI's; `chat` is that of OpenAI-compatible servers; `messages` is Anthropic's; `content` is
   * Google's.
   */
  format: Format;
  path: string;
  headers: IncomingHttpHeaders;
  /** The body as it was received. */
  text: string;
  body: Record<string, unknown>;
}

type Format = 'responses' | 'chat' | 'messages' | 'content';

/** The answer of a model, or a fault. */
export type ModelAnswer =
  // `untold` reports no usage; only for OpenAI-compatible servers.
  | {
      text: string;
      untold?: true;
      stop?: 'length';
      fault?: 'cut' | 'error';
      before?: Promise<void>;
      halfway?: Promise<void>;
    }
  // `times` works only in the format of OpenAI.
  | { tool: string; input: object; times?: number }
  | { refusal: string }
  | { status: number; message: string; headers?: Record<string, string> };

export type ModelScript = (request: ModelRequest, number: number) => ModelAnswer;

export interface Used {
  input: number;
  output: number;
}

/** The usage of every answer, unless a test says otherwise. */
export const USED: Used = { input: 100, output: 20 };

const FORMATS: Record<string, Format> = {
  '/v1/responses': 'responses',
  '/v1/chat/completions': 'chat',
  '/v1/messages': 'messages',
};
/** Google's API names the model in the path. */
const formatOf = (path: string): Format | undefined =>
  FORMATS[path] ?? (/^\/v1\/models\/[^/]+:streamGenerateContent\?alt=sse$/.test(path) ? 'content' : undefined);

/**
 * A server that speaks the wire formats of OpenAI, of OpenAI-compatible servers, of Anthropic and of Google over HTTP,
 * streamed, with answers that a test sets.
 */
export class ModelServer {
  readonly requests: ModelRequest[] = [];
  /** The number of requests whose client disconnected before they were answered. */
  abandoned = 0;
  script: ModelScript = () => ({ text: '{}' });
  /** The usage that an answer reports. */
  used: (request: ModelRequest) => Used = () => USED;

  private constructor(private readonly server: ReturnType<typeof createServer>) {}

  static async start(script?: ModelScript): Promise<ModelServer> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on(
        'end',
        () => void models.answer(request.url!, request.headers, Buffer.concat(chunks).toString(), response),
      );
    });
    const models = new ModelServer(server);
    if (script) models.script = script;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return models;
  }

  /** The value for `base_url`. */
  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1`;
  }

  /** Answers these in turn, and the last one from then on. */
  answers(...answers: ModelAnswer[]): void {
    this.requests.length = 0;
    this.script = (_request, number) => answers[Math.min(number, answers.length - 1)]!;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(
    path: string,
    headers: IncomingHttpHeaders,
    text: string,
    response: ServerResponse,
  ): Promise<void> {
    const format = formatOf(path);
    if (!format) return void response.writeHead(404).end(`no model speaks at ${path}`);
    const request = { format, path, headers, text, body: JSON.parse(text) as Record<string, unknown> };
    const answer = this.script(request, this.requests.push(request) - 1);
    response.on('close', () => {
      if (!response.writableFinished) this.abandoned += 1;
    });
    if ('status' in answer) {
      const error = {
        type: 'error',
        error: {
          type: 'server_error',
          message: answer.message,
          ...(format === 'content' && { code: answer.status, status: 'INTERNAL' }),
        },
      };
      return void response
        .writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
        .end(JSON.stringify(error));
    }
    if ('text' in answer) await answer.before;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const events = WRITERS[format](request.body, answer, this.used(request));
    const half = Math.ceil(events.length / 2);
    for (const [index, event] of events.entries()) {
      if (index === half && 'text' in answer) {
        await answer.halfway;
        if (answer.fault === 'cut') return void response.socket!.destroy();
        if (answer.fault === 'error') return void response.end(ERRORS[format]);
      }
      response.write(event);
    }
    response.end();
  }
}

type Spoken = Exclude<ModelAnswer, { status: number }>;

const named = (event: { type: string } & Record<string, unknown>): string =>
  `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const data = (event: object): string => `data: ${JSON.stringify(event)}\n\n`;

const PIECES = 4;

/** The text comes as models stream it, a few characters at a time. */
function pieces(text: string): string[] {
  const size = Math.max(1, Math.ceil(text.length / PIECES));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}

const WRITERS: Record<Format, (body: Record<string, unknown>, answer: Spoken, used: Used) => string[]> = {
  responses({ model }, answer, used) {
    const usage = {
      input_tokens: used.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: used.output,
      output_tokens_details: { reasoning_tokens: 0 },
    };
    const end = (reason?: string) =>
      named({
        type: reason ? 'response.incomplete' : 'response.completed',
        response: { usage, ...(reason && { incomplete_details: { reason } }) },
      });
    const created = named({ type: 'response.created', response: { id: 'resp_1', created_at: 1, model } });
    const item = (done: boolean, fields: object, output_index = 0) =>
      named({ type: `response.output_item.${done ? 'done' : 'added'}`, output_index, item: fields });
    if ('tool' in answer) {
      const input = JSON.stringify(answer.input);
      const calls = Array.from({ length: answer.times ?? 1 }, (_, index) => {
        const call = { type: 'function_call', id: `fc_${index + 1}`, call_id: `call_${index + 1}`, name: answer.tool };
        return [
          item(false, { ...call, arguments: '' }, index),
          named({
            type: 'response.function_call_arguments.delta',
            item_id: call.id,
            output_index: index,
            delta: input,
          }),
          item(true, { ...call, arguments: input, status: 'completed' }, index),
        ];
      });
      return [created, ...calls.flat(), end()];
    }
    const message = { type: 'message', id: 'msg_1' };
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    if ('refusal' in answer) {
      const { refusal } = answer;
      return [
        created,
        item(false, message),
        named({ type: 'response.refusal.delta', ...place, delta: refusal }),
        named({ type: 'response.refusal.done', ...place, refusal }),
        item(true, message),
        end(),
      ];
    }
    const deltas = pieces(answer.text).map((delta) => named({ type: 'response.output_text.delta', ...place, delta }));
    return [created, item(false, message), ...deltas, item(true, message), end(answer.stop && 'max_output_tokens')];
  },

  chat({ model }, answer, used) {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      data({
        id: 'chatcmpl-1',
        object: 'chat.completion.chunk',
        created: 1,
        model,
        choices: [{ index: 0, delta, finish_reason }],
      });
    const usage = { prompt_tokens: used.input, completion_tokens: used.output, total_tokens: used.input + used.output };
    const end = (reason: string) => [
      chunk({}, reason),
      data({ id: 'chatcmpl-1', created: 1, model, choices: [], usage }),
      'data: [DONE]\n\n',
    ];
    const begin = chunk({ role: 'assistant', content: '' });
    if ('tool' in answer) {
      const call = {
        index: 0,
        id: 'call_1',
        type: 'function',
        function: { name: answer.tool, arguments: JSON.stringify(answer.input) },
      };
      return [begin, chunk({ tool_calls: [call] }), ...end('tool_calls')];
    }
    if ('refusal' in answer) return [begin, chunk({ refusal: answer.refusal }), ...end('stop')];
    const ends = end(answer.stop ?? 'stop');
    return [
      begin,
      ...pieces(answer.text).map((content) => chunk({ content })),
      ...(answer.untold ? [ends[0]!, ends[2]!] : ends),
    ];
  },

  messages({ model, tools = [] }, answer, used) {
    const usage = { input_tokens: used.input, output_tokens: 1 };
    const begin = named({
      type: 'message_start',
      message: { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], usage },
    });
    const end = (stop_reason: string) => [
      named({ type: 'content_block_stop', index: 0 }),
      named({ type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: used.output } }),
      named({ type: 'message_stop' }),
    ];
    const use = (name: string, parts: string[], reason = 'tool_use') => [
      begin,
      named({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'tool_use', id: 'toolu_1', name, input: {} },
      }),
      ...parts.map((partial_json) =>
        named({ type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } }),
      ),
      ...end(reason),
    ];
    if ('tool' in answer) return use(answer.tool, [JSON.stringify(answer.input)]);
    const text = 'refusal' in answer ? answer.refusal : answer.text;
    // Older models answer in a schema by a tool of this name.
    const answersByTool = (tools as { name: string }[]).some(({ name }) => name === 'json');
    if (answersByTool && 'text' in answer) return use('json', pieces(text), answer.stop ? 'max_tokens' : 'tool_use');
    return [
      begin,
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      ...pieces(text).map((piece) =>
        named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } }),
      ),
      ...end('refusal' in answer ? 'refusal' : answer.stop ? 'max_tokens' : 'end_turn'),
    ];
  },

  content({ tools = [] }, answer, used) {
    const counts = (done: boolean) => ({ promptTokenCount: used.input, candidatesTokenCount: done ? used.output : 1 });
    const chunk = (parts: object[], finishReason?: string) =>
      data({
        responseId: 'response-1',
        candidates: [{ content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
        usageMetadata: counts(finishReason !== undefined),
      });
    const use = (name: string, args: object) => [chunk([{ functionCall: { name, args } }]), chunk([], 'STOP')];
    if ('tool' in answer) return use(answer.tool, answer.input);
    // With tools, models before Gemini 3 answer in a schema by a tool of this name.
    const declared = (tools as { functionDeclarations?: { name: string }[] }[]).flatMap(
      ({ functionDeclarations = [] }) => functionDeclarations,
    );
    if ('text' in answer && declared.some(({ name }) => name === 'json'))
      return use('json', JSON.parse(answer.text) as object);
    if ('refusal' in answer) return [chunk([{ text: answer.refusal }]), chunk([], 'SAFETY')];
    return [...pieces(answer.text).map((text) => chunk([{ text }])), chunk([], answer.stop ? 'MAX_TOKENS' : 'STOP')];
  },
};

const OVERLOADED = { type: 'server_error', code: 'server_error', message: 'the server had an error halfway' };

const ERRORS: Record<Format, string> = {
  responses: named({ type: 'error', sequence_number: 9, error: { ...OVERLOADED, param: null } }),
  chat: data({ error: OVERLOADED }),
  messages: named({ type: 'error', error: { type: 'api_error', message: OVERLOADED.message } }),
  content: data({ error: { code: 500, message: OVERLOADED.message, status: 'INTERNAL' } }),
};
