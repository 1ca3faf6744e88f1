import type { EngineFinding } from '../../catalog/configuration-file/engine-kind.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import type { JsonObject } from '../../common/json.js';
import { parseSize } from '../../common/units.js';
import { isWebhookSecret, WEBHOOK_SECRET_RULE } from '../../common/webhook-secret.js';
import { AddressRules, urlProblem } from '../../http-client/address-rules.js';
import type { OutboundAnswer } from '../../http-client/outbound.js';
import { OutboundError } from '../../http-client/outbound-error.js';
import { webhookHeaders } from '../../http-client/signatures.js';
import type { Engine, EngineContext, EngineEnvironment, ExecutionInputs, PreparedEngine } from '../engine.js';
import { EngineFailure } from '../engine-answers.js';
import { answerOf } from './remote-answer.js';

/** An http agent's `engine` object. */
interface HttpOptions {
  kind: 'http';
  url: string;
  secret?: string;
  max_answer?: string;
}

const DEFAULT_MAX_ANSWER = '1MiB';

const httpOptionsSchema: JsonObject = {
  description: 'A remote agent: a server that receives the input artifacts and answers with what the agent publishes',
  type: 'object',
  additionalProperties: false,
  required: ['kind', 'url'],
  properties: {
    kind: { const: 'http' },
    url: {
      description: 'Starling sends the inputs to this URL with POST',
      type: 'string',
      pattern: '^https?://[^@\\s]+$',
      errorMessage: 'must be an http or https URL without a user, such as http://127.0.0.1:9000/',
    },
    secret: {
      description: `Signs every request in the same way as webhooks: ${WEBHOOK_SECRET_RULE}; set it as \${NAME}`,
      type: 'string',
      minLength: 16,
      maxLength: 256,
      errorMessage: `must be ${WEBHOOK_SECRET_RULE}`,
    },
    max_answer: {
      description: 'The largest accepted answer, up to 64MiB',
      type: 'string',
      pattern: '^\\d+ ?(B|KiB|MiB|GiB)?$',
      errorMessage: 'must be a size such as 512KiB or 1MiB',
      default: DEFAULT_MAX_ANSWER,
    },
  },
};

const MOST_ANSWER_BYTES = 64 * 1_024 ** 2;

/** A remote agent: a server in any language that receives the inputs over HTTP. */
export class HttpEngine implements Engine {
  readonly kind = 'http';

  readonly optionsSchema = httpOptionsSchema;

  async check(agent: AgentDefinition): Promise<EngineFinding[]> {
    const { url, secret, max_answer } = optionsOf(agent);
    const findings: EngineFinding[] = [];
    const problem = urlProblem(url, 'operator', new AddressRules());
    if (problem !== null) findings.push({ path: ['url'], message: `must ${problem}` });
    if (secret !== undefined && !isWebhookSecret(secret))
      findings.push({ path: ['secret'], message: `must be ${WEBHOOK_SECRET_RULE}` });
    const most = maxAnswerBytes(max_answer);
    if (most === 0 || most > MOST_ANSWER_BYTES)
      findings.push({ path: ['max_answer'], message: 'must be a size from 1B to 64MiB' });
    return findings;
  }

  async prepare(agent: AgentDefinition, environment: EngineEnvironment): Promise<PreparedEngine> {
    return new RemoteAgent(agent, environment);
  }
}

const optionsOf = (agent: AgentDefinition): HttpOptions => agent.engine as unknown as HttpOptions;

const maxAnswerBytes = (size: string = DEFAULT_MAX_ANSWER): number => parseSize(size)!;

class RemoteAgent implements PreparedEngine {
  private readonly options: HttpOptions;
  private readonly host: string;

  constructor(
    private readonly agent: AgentDefinition,
    private readonly environment: EngineEnvironment,
  ) {
    this.options = optionsOf(agent);
    this.host = new URL(this.options.url).host;
  }

  async run(inputs: ExecutionInputs, context: EngineContext): Promise<unknown> {
    const { secret } = this.options;
    const answer = await this.answerTo(inputs, context);
    if (answer.status < 300) await context.parses(answer.text);
    return answerOf(answer, {
      host: this.host,
      secrets: [context.leaseToken, ...(secret === undefined ? [] : [secret])],
      now: this.environment.clock.now(),
    });
  }

  private async answerTo(
    { artifacts }: ExecutionInputs,
    { executionId, correlationId, attempt, traceparent, leaseToken, signal }: EngineContext,
  ): Promise<OutboundAnswer> {
    const { url, secret, max_answer } = this.options;
    const body = JSON.stringify({
      execution_id: executionId,
      correlation_id: correlationId,
      agent: this.agent.name,
      attempt,
      inputs: artifacts,
    });
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      'idempotency-key': executionId,
      // A server that answers 202 ends the attempt with it.
      'starling-lease-token': leaseToken,
      ...(traceparent !== null && { traceparent }),
      ...webhookHeaders(secret === undefined ? [] : [secret], {
        id: executionId,
        sentAt: this.environment.clock.now(),
        body,
      }),
    };
    try {
      return await this.environment.outbound.post(url, {
        headers,
        body,
        signal,
        maxAnswerBytes: maxAnswerBytes(max_answer),
        by: 'operator',
      });
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error;
      throw new EngineFailure('network', error.message, { isFinal: error.isRefused });
    }
  }
}
