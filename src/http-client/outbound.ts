import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { Agent, Dispatcher, RequestInit } from 'undici';

import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { VERSION } from '../common/version.js';
import { Settings } from '../config/settings.js';
import { AddressRules, type UrlGiver, urlProblem } from './address-rules.js';
import { boundedAnswer } from './bounded-answer.js';
import { HostTraffic } from './host-traffic.js';
import { CONNECT_TIMEOUT_MS, Lookups, Resolver } from './lookups.js';
import { asOutboundError, OutboundError } from './outbound-error.js';

export interface OutboundRequest {
  headers: Record<string, string>;
  body: string;
  /** Time limit from the connection to the end of the answer, in ms. Without it, only `signal` ends the request. */
  timeoutMs?: number;
  /** Cancels the request. */
  signal?: AbortSignal;
  /** Bytes of the answer that are read. Default: 64 KiB. */
  maxAnswerBytes?: number;
  by: UrlGiver;
}

export interface OutboundAnswer {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  /** The first `maxAnswerBytes` of the answer. */
  text: string;
  /** False if the answer was longer or was cut off. */
  isWhole: boolean;
  isTooLong: boolean;
}

/** The parts of undici that send the requests. */
interface Client extends Pick<typeof import('undici'), 'fetch' | 'request'> {
  // Separate, because otherwise a client's request could use a connection that was opened for an operator's URL.
  agents: Record<UrlGiver, Agent>;
}

/** Ends a request after its time limit or when its caller cancels it. */
interface Limit {
  signal: AbortSignal;
  /** Rejects with the signal's reason. */
  reached: Promise<never>;
  /** Must be called when the request has ended. */
  lift(): void;
}

const LONGEST_ANSWER_BYTES = 64 * 1_024;
/** Headers that never hold a key. Only these are sent to another origin after a redirect. */
const KEYLESS_HEADERS = /^(accept|accept-.*|content-.*|user-agent|sec-fetch-mode|mcp-.*|last-event-id)$/i;

/**
 * Sends all requests to URLs that clients or operators give. Addresses are checked when a URL is given and again when
 * it is connected to, so that a name cannot be changed to another address in between.
 */
@Injectable()
export class Outbound implements OnApplicationShutdown {
  private readonly rules: AddressRules;
  private readonly traffic: HostTraffic;
  private loading: Promise<Client> | undefined;

  constructor(
    settings: Settings,
    private readonly clock: Clock,
    private readonly resolver: Resolver,
  ) {
    const { clientWebhooks, clientWebhookHosts, clientWebhookPorts, clientWebhookBytesPerMinute, outboundAllow } =
      settings;
    this.rules = new AddressRules({
      allow: outboundAllow,
      ports: clientWebhookPorts,
      hosts: clientWebhooks === 'list' ? clientWebhookHosts : null,
    });
    this.traffic = new HostTraffic(clientWebhookBytesPerMinute, clock);
  }

  /** Throws a DomainError `invalid` if no request may go to this URL. The message begins with `name`. */
  check(url: string, by: UrlGiver, name: string): void {
    const problem = urlProblem(url, by, this.rules);
    if (problem !== null) throw new DomainError('invalid', `${name}: must ${problem}`);
  }

  /**
   * A `fetch` for libraries that call an operator's URLs. It follows redirects, checks each like the original URL, and
   * sends no keys to another origin. The caller's signal is the only time limit. Rejects like `fetch`; if an address is
   * not allowed, an OutboundError is among the causes. The answer has a bound: see `boundedAnswer`.
   */
  readonly fetch: typeof globalThis.fetch = async (url, options) => {
    const { fetch, agents } = await this.client();
    const dispatcher = this.beginningAt(new URL(url as string | URL).origin, agents.operator);
    const answer = await fetch(url as string | URL, { ...(options as RequestInit), dispatcher });
    return boundedAnswer(answer as unknown as Response);
  };

  /**
   * Resolves with any answer, whatever its status. Rejects with an OutboundError if there is none, and with HostFull if
   * nothing was sent because clients' requests have used the host's limit. Does not follow redirects.
   */
  async post(
    url: string,
    { headers, body, timeoutMs, signal, maxAnswerBytes = LONGEST_ANSWER_BYTES, by }: OutboundRequest,
  ): Promise<OutboundAnswer> {
    // Checked here because a connection to a literal address makes no lookup.
    const problem = urlProblem(url, by, this.rules);
    if (problem !== null) throw new OutboundError(`the URL must ${problem}`, true);
    const { host, hostname } = new URL(url);
    if (by === 'client') this.traffic.begin(hostname.replace(/^\[|\]$/g, ''), Buffer.byteLength(body));
    const limit = this.limit(host, timeoutMs, signal);
    try {
      const answering = this.client().then(({ request, agents }) =>
        request(url, {
          method: 'POST',
          headers: { 'user-agent': `starling/${VERSION}`, ...headers },
          body,
          dispatcher: agents[by],
          signal: limit.signal,
        }),
      );
      // undici checks the signal only after it has connected: an unanswered lookup would keep the caller waiting until
      // then.
      const answer = await Promise.race([answering, limit.reached]);
      return { status: answer.statusCode, headers: answer.headers, ...(await firstOf(answer.body, maxAnswerBytes)) };
    } catch (error) {
      throw asOutboundError(error, host);
    } finally {
      limit.lift();
    }
  }

  async onApplicationShutdown(): Promise<void> {
    const client = await this.loading;
    await Promise.all(Object.values(client?.agents ?? {}).map((agent) => agent.destroy()));
  }

  /** Loaded at the first request, because undici takes 5 MB and many processes send none. */
  private client(): Promise<Client> {
    return (this.loading ??= this.load());
  }

  private async load(): Promise<Client> {
    const [{ fetch, request }, { Connecting }] = await Promise.all([import('undici'), import('./connecting.js')]);
    const lookups = new Lookups(this.resolver, this.clock, CONNECT_TIMEOUT_MS);
    const connecting = new Connecting(this.rules, lookups, this.traffic);
    const agents = { client: connecting.agentFor('client'), operator: connecting.agentFor('operator') };
    return { fetch, request, agents };
  }

  // After a redirect to another origin, fetch itself drops Authorization and cookies, but keys are sent in many other
  // headers.
  private beginningAt(origin: string, agent: Agent): Dispatcher {
    return agent.compose((dispatch) => (options, handler) => {
      const problem = urlProblem(String(options.origin), 'operator', this.rules);
      if (problem !== null) throw new OutboundError(`the URL must ${problem}`, true);
      const headers = options.headers as Record<string, string>;
      return dispatch(options.origin === origin ? options : { ...options, headers: withoutKeys(headers) }, handler);
    });
  }

  /**
   * This is not `AbortSignal.any`, whose signal stays in memory until its sources are collected, which may be long after the
   * answers.
   */
  private limit(host: string, timeoutMs?: number, given?: AbortSignal): Limit {
    const ending = new AbortController();
    const { promise: reached, reject } = Promise.withResolvers<never>();
    // It may reject when no caller waits for it any more.
    reached.catch(() => undefined);
    const end = (reason: Error): void => {
      ending.abort(reason);
      reject(reason);
    };
    const onAbort = (): void => end(given!.reason as Error);
    if (given?.aborted) onAbort();
    given?.addEventListener('abort', onAbort, { once: true });
    const cancel =
      timeoutMs === undefined
        ? undefined
        : this.clock.at(this.clock.now() + timeoutMs, () =>
            end(new OutboundError(`${host}: no answer within ${timeoutMs} ms`)),
          );
    const lift = (): void => {
      cancel?.();
      given?.removeEventListener('abort', onAbort);
    };
    return { signal: ending.signal, reached, lift };
  }
}

const withoutKeys = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => KEYLESS_HEADERS.test(name)));

// An answer that is cut off is accepted: its status arrived, so the receiver must not be called again.
async function firstOf(
  body: AsyncIterable<Buffer>,
  most: number,
): Promise<Pick<OutboundAnswer, 'text' | 'isWhole' | 'isTooLong'>> {
  const chunks: Buffer[] = [];
  let length = 0;
  let isWhole = true;
  try {
    for await (const chunk of body) {
      chunks.push(chunk.subarray(0, most - length));
      length += chunk.length;
      if (length > most) {
        isWhole = false;
        break;
      }
    }
  } catch {
    isWhole = false;
  }
  return { text: Buffer.concat(chunks).toString('utf8'), isWhole, isTooLong: length > most };
}
