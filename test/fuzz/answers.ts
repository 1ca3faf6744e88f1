import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

import type { ApiDocument, Route } from './document.js';
import type { FuzzRequest } from './requests.js';
import type { Answer } from './send.js';

/** Node refuses these before there is a route. */
const HEADERS_TOO_LARGE = 431;

/** The answer to a direct run whose agent failed: its inputs are stored. */
export const saysAgentFailed = (status: number, text: string): boolean =>
  status === 500 && /^\{"detail":"Agent \w+ failed: /.test(text);

/**
 * The answer to a large request that waited for another one with its key, which failed: its body would have taken
 * memory meanwhile.
 */
const asksToComeBack = (status: number, text: string): boolean =>
  status === 503 && text.includes('this one was too large to keep');

/** Checks an answer against the rules for all answers and the document's description of its route. */
export class AnswerCheck {
  private readonly ajv = new Ajv({ strict: false });

  constructor(document: ApiDocument) {
    addFormats.default(this.ajv);
    this.ajv.addSchema(document, 'api');
  }

  /** Returns nothing if the answer is correct. */
  problemsOf({ status, headers, text }: Answer, { method, target, route }: FuzzRequest): string[] {
    const problems: string[] = [];
    const isExpected = (status >= 200 && status < 500) || saysAgentFailed(status, text) || asksToComeBack(status, text);
    if (!isExpected) problems.push(`status ${status}`);
    if (saysAgentFailed(status, text) && !/\/run\b/i.test(target)) problems.push('an agent failed that was not run');
    if (!/^[0-9a-f-]{36}$/.test((headers['x-request-id'] as string | undefined) ?? ''))
      problems.push('no X-Request-ID');
    if (method === 'HEAD') return problems;
    if (status >= 400 && !isDetail(text)) problems.push('no body with a detail alone');
    return route ? [...problems, ...this.contradictions(route, status, text)] : problems;
  }

  private contradictions(route: Route, status: number, text: string): string[] {
    if (status === HEADERS_TOO_LARGE) return [];
    if (!(status in route.responses)) return [`${status} is not documented`];
    const at = [
      'paths',
      route.path,
      route.method.toLowerCase(),
      'responses',
      String(status),
      'content',
      'application/json',
      'schema',
    ];
    const content = route.responses[status]!.content?.['application/json'];
    if (!content?.schema) return [];
    const validate = this.ajv.getSchema(`api#/${at.map(escape).join('/')}`)!;
    return validate(JSON.parse(text)) ? [] : [`not as documented: ${this.ajv.errorsText(validate.errors)}`];
  }
}

const escape = (key: string): string => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'));

function isDetail(text: string): boolean {
  try {
    const body = JSON.parse(text) as Record<string, unknown>;
    return Object.keys(body).join() === 'detail' && typeof body.detail === 'string' && body.detail.length > 0;
  } catch {
    return false;
  }
}
