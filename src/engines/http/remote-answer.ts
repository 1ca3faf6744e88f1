import type { OutboundAnswer } from '../../http-client/outbound.js';
import { retryAfter } from '../../http-client/retry-after.js';
import { DeferredCompletion } from '../deferred-completion.js';
import { readAnswer } from '../explicit-outputs.js';
import { EngineFailure } from '../engine-failure.js';

const REQUEST_TIMEOUT = 408;
const TOO_EARLY = 425;
const TOO_MANY = 429;
const RETRIED = [REQUEST_TIMEOUT, TOO_EARLY, TOO_MANY];
const ACCEPTED = 202;
const NO_CONTENT = 204;
const LONGEST_REASON = 500;
const LONGEST_TYPE = 100;

interface Asked {
  host: string;
  /** What the request was given that nobody else may know. */
  secrets: readonly string[];
  /** Epoch ms. */
  now: number;
}

/** What a remote agent answers, as every engine does; throws an EngineFailure where that is none. */
export function answerOf(answer: OutboundAnswer, asked: Asked): unknown {
  const { status } = answer;
  const { host } = asked;
  if (status < 200 || status >= 300) throw failureOf(answer, asked);
  if (status === ACCEPTED) return acceptance(answer, host);
  if (answer.isTooLong) throw new EngineFailure('output', `${host} answered with more than max_answer allows; raise it, or answer less`);
  if (!answer.isWhole) throw new EngineFailure('network', `${host}: the answer broke off`);
  return status === NO_CONTENT ? null : readAnswer(jsonIn(answer, host));
}

function acceptance({ headers }: OutboundAnswer, host: string): DeferredCompletion {
  if (headers.location) return new DeferredCompletion();
  throw new EngineFailure('output', `${host} answered 202 without a Location, which would say that it answers later`, { isFinal: true });
}

/** What says of itself that it is something else, such as a proxy's page to log in, will be so the next time. */
function jsonIn({ text, headers }: OutboundAnswer, host: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const type = [headers['content-type'] ?? ''].flat()[0]!.split(';')[0]!.trim().toLowerCase();
    if (type === '' || /[/+]json$/.test(type)) throw new EngineFailure('output', `the answer of ${host} is no JSON`);
    throw new EngineFailure('output', `the answer of ${host} is ${type.slice(0, LONGEST_TYPE)} and no JSON; is url where the agent is?`, { isFinal: true });
  }
}

function failureOf({ status, headers, text }: OutboundAnswer, { host, secrets, now }: Asked): EngineFailure {
  if (status >= 300 && status < 400) return new EngineFailure('http', `${host} answered ${status}, and redirects are not followed`, { isFinal: true });
  // Some servers answer an error with all that they were sent.
  const reason = secrets.reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text).trim().slice(0, LONGEST_REASON);
  const message = `${host} answered ${status}${reason && `: ${reason}`}`;
  if (status < 500 && !RETRIED.includes(status)) return new EngineFailure('http', message, { isFinal: true });
  const notBefore = retryAfter(headers['retry-after'], now);
  return new EngineFailure(status === TOO_MANY ? 'rate_limit' : 'http', message, { retryAfterMs: notBefore === null ? undefined : notBefore - now });
}
