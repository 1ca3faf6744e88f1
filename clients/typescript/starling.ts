import {
  type AgentName,
  type Artifact,
  type Entry,
  type Execution,
  type Handle,
  type PublishOptions,
  Run,
  StarlingError,
  type StreamOptions,
  type TypeName,
  type WaitOptions,
  type WorkerOptions,
} from './answers.ts';
import { AGENTS, type Payloads, TYPES } from './catalog.ts';

type Headers = Record<string, string>;
type AnyHandle = (execution: Execution) => Promise<object>;

/** A POST if it has a body. */
interface Request {
  body?: object;
  headers?: Headers;
  /** Seconds without an answer, after which the connection counts as lost; 0 sets no limit. */
  within?: number;
  retries?: number;
  signal?: AbortSignal | undefined;
}

interface Answer {
  body: unknown;
  headers: Response['headers'];
}

const RETRIES = 7;
const LONGEST_PAUSE_MS = 10_000;
const ANSWERS_WITHIN_S = 30;
const CLAIM_WAIT_S = 20;
/** The server sends something every 15 s, so a longer silence of a stream is a lost connection. */
const LONGEST_SILENCE_MS = 45_000;
const LONGEST_TYPE = 100;
const LONGEST_MESSAGE = 2_000;
const UNAVAILABLE = [429, 502, 503, 504];

/**
 * A client of a Starling server. It sends a request again, with the same idempotency key, if the connection is lost or the
 * server is unavailable: seven times, within about half a minute. Every method rejects with a StarlingError if the server
 * refuses the request.
 */
export class Starling {
  readonly url: string;
  /** Publishes an artifact, and resolves when it is stored. */
  readonly publish: {
    [T in TypeName]: (payload: Payloads[T], options?: PublishOptions) => Promise<{ correlation_id: string }>;
  };
  /** Publishes an artifact, and resolves when all work that follows from it has ended. */
  readonly publishAndWait: { [T in TypeName]: (payload: Payloads[T], options?: WaitOptions) => Promise<Run> };

  /**
   * Works for an external agent until the signal aborts: claims executions, renews their leases while `handle` works, and
   * completes them with its outputs. If `handle` rejects, the attempt fails, and the agent's `retry` says what follows.
   */
  readonly work: { [A in AgentName]: (handle: Handle<A>, options?: WorkerOptions) => Promise<void> };

  constructor(url = 'http://127.0.0.1:8344') {
    this.url = new URL(url).href.replace(/\/$/, '');
    this.publish = byName(TYPES, (type) => async (payload: object, options: PublishOptions = {}) => {
      const answer = await this.#publish('/api/v1/artifacts', type, payload, options, ANSWERS_WITHIN_S);
      return { correlation_id: answer.headers.get('X-Correlation-ID')! };
    });
    this.publishAndWait = byName(TYPES, (type) => async (payload: object, options: WaitOptions = {}) => {
      const within = (options.timeout ?? 30) + ANSWERS_WITHIN_S;
      const { body } = await this.#publish('/api/v1/artifacts/sync', type, payload, options, within);
      return new Run(body as Run);
    });
    this.work = byName(
      AGENTS,
      (agent) =>
        (handle: (execution: never) => Promise<object>, options: WorkerOptions = {}) =>
          this.#work(agent, handle as AnyHandle, options),
    );
  }

  async artifact(id: string, signal?: AbortSignal): Promise<Artifact> {
    const { body } = await this.#call(`/api/v1/artifacts/${encodeURIComponent(id)}`, { signal });
    return body as Artifact;
  }

  /** The entries of published artifacts, without end. If the connection is lost, it continues after the last entry. */
  async *stream({ artifact_type = [], produced_by = [], correlation_id, after, signal }: StreamOptions = {}) {
    const filter = new URLSearchParams(correlation_id === undefined ? {} : { correlation_id });
    for (const type of artifact_type) filter.append('artifact_type', type);
    for (const agent of produced_by) filter.append('produced_by', agent);
    let position = after?.toString();
    while (!signal?.aborted) {
      const headers: Headers = position === undefined ? {} : { 'Last-Event-ID': position };
      const silence = new AbortController();
      const both = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
      let answer: Response | undefined;
      try {
        answer = await this.#send(
          `/api/v1/changelog/stream?${filter}`,
          { headers, within: 0, signal: both },
          (opened) => Promise.resolve(opened),
        );
        for await (const { id, data } of eventsOf(answer.body!, silence)) {
          if (data !== undefined) yield JSON.parse(data) as Entry;
          position = id ?? position;
        }
      } catch (error) {
        if (!signal?.aborted && !(answer && isLost(error))) throw error;
      } finally {
        silence.abort();
      }
    }
  }

  async #work(
    agent: string,
    handle: AnyHandle,
    { signal, max = 1, claimed_by, assignee }: WorkerOptions,
  ): Promise<void> {
    const request: Request = {
      body: { agents: [agent], wait: CLAIM_WAIT_S, max, claimed_by, assignee },
      within: CLAIM_WAIT_S + ANSWERS_WITHIN_S,
      retries: Infinity,
      signal,
    };
    while (!signal?.aborted) {
      const claimed = await this.#call('/api/v1/executions/claim', request).catch((error: unknown) => {
        if (signal?.aborted) return { body: { executions: [] } };
        throw error;
      });
      const { executions } = claimed.body as { executions: Execution[] };
      await Promise.all(executions.map((execution) => this.#workOn(execution, handle)));
    }
  }

  async #workOn(claimed: Execution, handle: AnyHandle): Promise<void> {
    const { execution_id, lease_token, lease_until } = claimed;
    const lease = new AbortController();
    const post = (how: string, body: object, retries: number): Promise<Answer> =>
      this.#call(`/api/v1/executions/${execution_id}/${how}`, { body: { lease_token, ...body }, retries });
    const noteLoss = (error: unknown): void => {
      if (isLeaseLost(error)) lease.abort(error);
    };
    // Every third of the lease, so that two heartbeats may fail.
    const every = Math.max((Date.parse(lease_until) - Date.now()) / 3, 100);
    const heartbeat = setInterval(() => void post('heartbeat', {}, 0).catch(noteLoss), every);
    try {
      const outputs = [await handle({ ...claimed, signal: lease.signal })].flat();
      await post('complete', { outputs }, Infinity);
    } catch (error) {
      noteLoss(error);
      if (!lease.signal.aborted) {
        await post('fail', failureOf(error), Infinity).catch((refused: unknown) => {
          if (!isLeaseLost(refused)) throw refused;
          lease.abort(refused);
        });
      }
      if (lease.signal.aborted) console.warn(String(lease.signal.reason));
    } finally {
      clearInterval(heartbeat);
    }
  }

  #publish(
    path: string,
    type: string,
    payload: object,
    { correlation_id, idempotency_key = crypto.randomUUID(), signal, ...rest }: WaitOptions,
    within: number,
  ): Promise<Answer> {
    const correlation: Headers = correlation_id === undefined ? {} : { 'X-Correlation-ID': correlation_id };
    const headers = { 'X-Idempotency-Key': idempotency_key, ...correlation };
    return this.#call(path, { body: { type, payload, ...rest }, headers, within, signal });
  }

  #call(path: string, request: Request): Promise<Answer> {
    return this.#send(path, request, async (answer) => ({ body: await answer.json(), headers: answer.headers }));
  }

  /** Sends a request and reads its answer, and again while there is no answer or the server is unavailable. */
  async #send<T>(path: string, request: Request, read: (answer: Response) => Promise<T>): Promise<T> {
    const { retries = RETRIES, signal } = request;
    for (let attempt = 0; ; attempt++) {
      let asked: string | null = null;
      try {
        const answer = await this.#sendOnce(path, request);
        if (answer.ok) return await read(answer);
        asked = answer.headers.get('Retry-After');
        throw await refusal(answer);
      } catch (error) {
        if (signal?.aborted || attempt >= retries || !isTemporary(error)) throw error;
      }
      const usual = Math.min(250 * 2 ** attempt, LONGEST_PAUSE_MS) * (0.5 + Math.random());
      await pause(Number(asked) * 1_000 || usual, signal);
    }
  }

  #sendOnce(path: string, { body, headers, within = ANSWERS_WITHIN_S, signal }: Request): Promise<Response> {
    const limits = [...(signal ? [signal] : []), ...(within > 0 ? [AbortSignal.timeout(within * 1_000)] : [])];
    return fetch(this.url + path, {
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      headers: { ...(body && { 'Content-Type': 'application/json' }), ...headers },
      signal: AbortSignal.any(limits),
    });
  }
}

const byName = <N extends string, F>(names: readonly N[], made: (name: N) => F): Record<N, F> =>
  Object.fromEntries(names.map((name) => [name, made(name)])) as Record<N, F>;

/** The failure of an attempt, in the lengths that the server accepts. */
function failureOf(error: unknown): { error_type: string; error_message: string } {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  // A text is cut between characters.
  return {
    error_type: name.slice(0, LONGEST_TYPE) || 'Error',
    error_message: Array.from(message).slice(0, LONGEST_MESSAGE).join('') || 'no message',
  };
}

/** The server answers so if another worker may have the execution, or if it no longer exists. */
const isLeaseLost = (error: unknown): boolean => error instanceof StarlingError && [404, 409].includes(error.status);

/** `fetch` and its streams reject with a TypeError if a connection is lost, and with a DOMException after a time limit. */
const isLost = (error: unknown): boolean => error instanceof TypeError || error instanceof DOMException;

const isTemporary = (error: unknown): boolean =>
  error instanceof StarlingError ? UNAVAILABLE.includes(error.status) : isLost(error);

async function refusal(answer: Response): Promise<StarlingError> {
  const { detail = answer.statusText } = (await answer.json().catch(() => ({}))) as { detail?: string };
  return new StarlingError(answer.status, detail);
}

function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** The events of a stream of server-sent events. `silence` is aborted if the server sends nothing for too long. */
async function* eventsOf(body: NonNullable<Response['body']>, silence: AbortController) {
  const lost = (): void => silence.abort(new DOMException('the server was silent for too long', 'TimeoutError'));
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const timer = setTimeout(lost, LONGEST_SILENCE_MS);
    const { value, done } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    text += decoder.decode(value, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      yield fieldsOf(text.slice(0, end));
      text = text.slice(end + 2);
    }
  }
}

function fieldsOf(event: string): { id?: string; data?: string } {
  return Object.fromEntries(
    event.split('\n').flatMap((line) => {
      const [, field, value] = /^(id|data): ?(.*)$/.exec(line) ?? [];
      return field === undefined ? [] : [[field, value]];
    }),
  );
}
