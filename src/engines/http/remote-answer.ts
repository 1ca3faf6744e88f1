import type { OutboundAnswer } from '../../http-client/outbound.js';
import { retryAfter } from '../../http-client/retry-after.js';
import { DeferredCompletion, EngineFailure, readAnswer } from '../engine-answers.js';

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
  /** Secrets of the request, which must not appear in an error message. */
  secrets: readonly string[];
  /** Epoch ms. */
  now: number;
}

/** Reads the answer of a remote agent. Throws EngineFailure if it is not usable. */
export function answerOf(answer: OutboundAnswer, asked: Asked): unknown {
  const { status } = answer;
  const { host } = asked;
  if (status < 200 || status >= 300) throw failureOf(answer, asked);
  if (status === ACCEPTED) return acceptance(answer, host);
  if (answer.isTooLong)
    throw new EngineFailure('output', `${host} sent an answer larger than max_answer; raise max_answer or send less`);
  if (!answer.isWhole) throw new EngineFailure('network', `${host}: the answer broke off`);
  return status === NO_CONTENT ? null : readAnswer(jsonIn(answer, host));
}

function acceptance({ headers }: OutboundAnswer, host: string): DeferredCompletion {
  if (headers.location) return new DeferredCompletion();
  throw new EngineFailure(
    'output',
    `${host} answered 202 without a Location header; a 202 needs one to announce a later answer`,
    { isFinal: true },
  );
}

/**
 * A body with another content type, such as a proxy's login page, is final, because the next attempt would get the
 * same.
 */
function jsonIn({ text, headers }: OutboundAnswer, host: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const type = [headers['content-type'] ?? ''].flat()[0]!.split(';')[0]!.trim().toLowerCase();
    if (type === '' || /[/+]json$/.test(type)) throw new EngineFailure('output', `the answer of ${host} is not JSON`);
    throw new EngineFailure(
      'output',
      `the answer of ${host} is ${type.slice(0, LONGEST_TYPE)}, not JSON; check the agent's url`,
      { isFinal: true },
    );
  }
}

function failureOf({ status, headers, text }: OutboundAnswer, { host, secrets, now }: Asked): EngineFailure {
  if (status >= 300 && status < 400)
    return new EngineFailure('http', `${host} answered ${status}, and redirects are not followed`, { isFinal: true });
  // Some servers repeat the request in an error answer.
  const reason = secrets
    .reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), text)
    .trim()
    .slice(0, LONGEST_REASON);
  const message = `${host} answered ${status}${reason && `: ${reason}`}`;
  if (status < 500 && !RETRIED.includes(status)) return new EngineFailure('http', message, { isFinal: true });
  const notBefore = retryAfter(headers['retry-after'], now);
  return new EngineFailure(status === TOO_MANY ? 'rate_limit' : 'http', message, {
    retryAfterMs: notBefore === null ? undefined : notBefore - now,
  });
}
