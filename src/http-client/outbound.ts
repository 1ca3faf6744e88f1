import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type Agent, type Dispatcher, fetch, request, type RequestInit } from 'undici';
import { Clock } from '../common/clock.js';
import { DomainError } from '../common/domain-error.js';
import { VERSION } from '../common/version.js';
import { Settings } from '../config/settings.js';
import { AddressRules, type UrlGiver } from './address-rules.js';
import { Connecting } from './connecting.js';
import { HostTraffic } from './host-traffic.js';
import { CONNECT_TIMEOUT_MS, Lookups } from './lookups.js';
import { asOutboundError, OutboundError } from './outbound-error.js';
import { Resolver } from './resolver.js';
import { urlProblem } from './url-problem.js';

export interface OutboundRequest {
  headers: Record<string, string>;
  body: string;
  /** For everything from the connection to the end of the answer; without one, `signal` alone ends it. */
  timeoutMs?: number;
  /** Gives the request up. */
  signal?: AbortSignal;
  /** How much of the answer is read; 64 KiB where absent. */
  maxAnswerBytes?: number;
  by: UrlGiver;
}

export interface OutboundAnswer {
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  /** The first `maxAnswerBytes` of it. */
  text: string;
  /** False where the answer was longer, or broke off. */
  isWhole: boolean;
  isTooLong: boolean;
}

/** What ends a request: its time, or its caller. */
interface Limit {
  signal: AbortSignal;
  /** Rejects with the signal's reason. */
  reached: Promise<never>;
  /** To be called when the request is over. */
  lift(): void;
}

const LONGEST_ANSWER_BYTES = 64 * 1_024;
/** What says how a request is to be read and answered. */
const KEYLESS_HEADERS = /^(accept|accept-.*|content-.*|user-agent|sec-fetch-mode|mcp-.*|last-event-id)$/i;

/**
 * The one way out to URLs that somebody gave. Their addresses are checked when they are given and again when they are connected
 * to, so that a name cannot come to mean another address in between.
 */
@Injectable()
export class Outbound implements OnApplicationShutdown {
  private readonly rules: AddressRules;
  // Apart, or a client's request could go over a connection that an operator's URL has opened.
  private readonly agents: Record<UrlGiver, Agent>;
  private readonly traffic: HostTraffic;

  constructor(
    settings: Settings,
    private readonly clock: Clock,
    resolver: Resolver,
  ) {
    const { clientWebhooks, clientWebhookHosts, clientWebhookPorts, clientWebhookBytesPerMinute, outboundAllow } = settings;
    this.rules = new AddressRules({ allow: outboundAllow, ports: clientWebhookPorts, hosts: clientWebhooks === 'list' ? clientWebhookHosts : null });
    this.traffic = new HostTraffic(clientWebhookBytesPerMinute, clock);
    const connecting = new Connecting(this.rules, new Lookups(resolver, clock, CONNECT_TIMEOUT_MS), this.traffic);
    this.agents = { client: connecting.agentFor('client'), operator: connecting.agentFor('operator') };
  }

  /** DomainError `invalid` where no request may go to this URL, in a sentence that begins with `name`. */
  check(url: string, by: UrlGiver, name: string): void {
    const problem = urlProblem(url, by, this.rules);
    if (problem !== null) throw new DomainError('invalid', `${name}: must ${problem}`);
  }

  /**
   * For libraries that ask an operator's URLs themselves: `fetch`, whose redirects, which it follows, are checked like the URL that was
   * given, and take no key to another host; and whose one time limit is its caller's signal. Rejects as `fetch` does, an
   * OutboundError being among the causes where an address may not be reached.
   */
  readonly fetch: typeof globalThis.fetch = async (url, options) => {
    const dispatcher = this.beginningAt(new URL(url as string | URL).origin);
    return (await fetch(url as string | URL, { ...(options as RequestInit), dispatcher })) as unknown as Response;
  };

  /**
   * Resolves with whatever answer comes, rejects with an OutboundError where none does: with HostFull where nothing was sent because
   * clients' requests have taken what the host may have for now. Follows no redirect.
   */
  async post(url: string, { headers, body, timeoutMs, signal, maxAnswerBytes = LONGEST_ANSWER_BYTES, by }: OutboundRequest): Promise<OutboundAnswer> {
    // Connections to literal addresses ask for no lookup.
    const problem = urlProblem(url, by, this.rules);
    if (problem !== null) throw new OutboundError(`the URL must ${problem}`, true);
    const { host, hostname } = new URL(url);
    if (by === 'client') this.traffic.begin(hostname.replace(/^\[|\]$/g, ''), Buffer.byteLength(body));
    const limit = this.limit(host, timeoutMs, signal);
    try {
      const answering = request(url, {
        method: 'POST',
        headers: { 'user-agent': `starling/${VERSION}`, ...headers },
        body,
        dispatcher: this.agents[by],
        signal: limit.signal,
      });
      // undici looks at the signal when it is connected: a name that nobody answers for would keep the caller until then.
      const answer = await Promise.race([answering, limit.reached]);
      return { status: answer.statusCode, headers: answer.headers, ...(await firstOf(answer.body, maxAnswerBytes)) };
    } catch (error) {
      throw asOutboundError(error, host);
    } finally {
      limit.lift();
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(Object.values(this.agents).map((agent) => agent.destroy()));
  }

  // Of a redirect to another origin, fetch itself leaves out Authorization and cookies; but keys have headers of many names.
  private beginningAt(origin: string): Dispatcher {
    return this.agents.operator.compose((dispatch) => (options, handler) => {
      const problem = urlProblem(String(options.origin), 'operator', this.rules);
      if (problem !== null) throw new OutboundError(`the URL must ${problem}`, true);
      const headers = options.headers as Record<string, string>;
      return dispatch(options.origin === origin ? options : { ...options, headers: withoutKeys(headers) }, handler);
    });
  }

  /** Not `AbortSignal.any`: its signal lives on until its sources are collected, which for a thousand requests at once is long after their answers. */
  private limit(host: string, timeoutMs?: number, given?: AbortSignal): Limit {
    const ending = new AbortController();
    const { promise: reached, reject } = Promise.withResolvers<never>();
    // It may come to pass when nobody waits for it any more.
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
        : this.clock.at(this.clock.now() + timeoutMs, () => end(new OutboundError(`${host}: no answer within ${timeoutMs} ms`)));
    const lift = (): void => {
      cancel?.();
      given?.removeEventListener('abort', onAbort);
    };
    return { signal: ending.signal, reached, lift };
  }
}

const withoutKeys = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => KEYLESS_HEADERS.test(name)));

// A receiver that has answered with a status is not asked again because the rest of its answer did not come.
async function firstOf(body: AsyncIterable<Buffer>, most: number): Promise<Pick<OutboundAnswer, 'text' | 'isWhole' | 'isTooLong'>> {
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
