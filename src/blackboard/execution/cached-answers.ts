import { hash } from 'node:crypto';

import { Injectable } from '@nestjs/common';

import type { AgentDefinition, CacheRule } from '../../catalog/definitions.js';
import { ExpressionEvaluator } from '../../cel/evaluator.js';
import { Clock } from '../../common/clock.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import type { ExecutionInputs, PreparedEngine } from '../../engines/engine.js';
import { DeferredCompletion } from '../../engines/engine-answers.js';
import type { CacheUse } from './cache-use.js';
import { findCachedAnswer, setCachedFrom, storeCachedAnswer } from './cached-answer-rows.js';

/** The longest answer that is kept (characters of JSON). */
const LONGEST_ANSWER = 256 * 1_024;

interface Attempt {
  definition: string | null;
  replay: boolean;
  cache: CacheUse | null;
}

/** `cache` of an agent: an execution takes the answer of an earlier one with an equal key. */
@Injectable()
export class CachedAnswers {
  constructor(
    private readonly evaluator: ExpressionEvaluator,
    private readonly unitOfWork: UnitOfWork,
    private readonly clock: Clock,
  ) {}

  /**
   * Returns the engine for one attempt. It sets `execution.cache`. A replay asks what the agents answer now, so it
   * neither takes earlier answers nor leaves any. An agent without a known definition may have changed since.
   */
  around(execution: Attempt, { name, cache }: AgentDefinition, engine: PreparedEngine): PreparedEngine {
    const { definition, replay } = execution;
    if (!cache || definition === null || replay) return engine;
    return {
      run: async (inputs, context) => {
        const key = hash('sha256', JSON.stringify([name, definition, await this.keyOf(cache, inputs)]), 'base64url');
        const [known] = await findCachedAnswer(this.unitOfWork.reader, { key, now: this.clock.now() });
        if (known) {
          execution.cache = { from: known.execution_id };
          return JSON.parse(known.answer) as unknown;
        }
        const answer = await engine.run(inputs, context);
        const text = answer instanceof DeferredCompletion ? null : textOf(answer);
        if (text !== null && text.length <= LONGEST_ANSWER) execution.cache = { key, answer: text, forMs: cache.forMs };
        return answer;
      },
    };
  }

  /** Records the use of the cache in the transaction that completes the execution at `now` (epoch ms). */
  async store(tx: Transaction, execution: { id: string; cache?: CacheUse | null }, now: number): Promise<void> {
    const { id, cache } = execution;
    if (!cache) return;
    if ('from' in cache) {
      await setCachedFrom(tx.db, { id, cached_from: cache.from });
      return;
    }
    const { key, answer, forMs } = cache;
    await storeCachedAnswer(tx.db, { key, answer, execution_id: id, expires_at: now + forMs });
  }

  private async keyOf({ key }: CacheRule, { artifacts, view }: ExecutionInputs): Promise<unknown> {
    if (key === null) return artifacts.map(({ type, payload }) => [type, payload]);
    const variables = { payload: view, artifact: artifacts[0], inputs: artifacts };
    const result = await this.evaluator.evaluate(key, variables);
    if (!result.ok) throw new CacheKeyError(`the key of cache fails: ${result.error}`);
    if (result.value === null) throw new CacheKeyError('the key of cache is null');
    return [result.value];
  }
}

/** Null if the answer is not JSON; the check of the answer says so. */
function textOf(answer: unknown): string | null {
  try {
    return JSON.stringify(answer ?? null) ?? null;
  } catch {
    return null;
  }
}

/** The same inputs would fail again. */
class CacheKeyError extends Error {
  override readonly name = 'cache_key';
  readonly isFinal = true;
}
