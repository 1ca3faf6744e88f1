import { hash } from 'node:crypto';

import { Injectable } from '@nestjs/common';

import type { AgentDefinition, CacheRule } from '../../catalog/definitions.js';
import { ExpressionEvaluator } from '../../cel/evaluator.js';
import { Clock } from '../../common/clock.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import type { ExecutionInputs, PreparedEngine } from '../../engines/engine.js';
import { DeferredCompletion, ExplicitOutputs } from '../../engines/engine-answers.js';
import { onceAvailable } from '../../engines/once-available.js';
import type { CacheUse } from './cache-use.js';
import { findCachedAnswer, setCachedFrom, storeCachedAnswer } from './cached-answer-rows.js';

/** The longest answer that is kept (characters of JSON). */
const LONGEST_ANSWER = 256 * 1_024;

interface Attempt {
  definition: string | null;
  replay: boolean;
  batch: boolean;
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
        const { signal } = context;
        const key = await onceAvailable(() => this.keyOf(execution, name, cache, inputs), this.clock, signal);
        const known = await onceAvailable(() => this.find(key), this.clock, signal);
        signal.throwIfAborted();
        if (known) {
          await context.parses(known.answer);
          const answer = parsedAnswer(known.answer);
          // The settings may allow less than when it was kept.
          if (context.refusal(answer) === null) {
            execution.cache = { from: known.execution_id };
            return answer;
          }
        }
        const answer = await engine.run(inputs, context);
        const text = textOf(answer);
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

  private async find(key: string): Promise<{ answer: string; execution_id: string } | undefined> {
    const [known] = await findCachedAnswer(this.unitOfWork.reader, { key, now: this.clock.now() });
    return known;
  }

  private async keyOf(
    { definition, batch }: Attempt,
    agent: string,
    { key }: CacheRule,
    { artifacts, view }: ExecutionInputs,
  ): Promise<string> {
    // The agent sees one payload of a batch window as a list.
    const parts: unknown[] = [agent, definition, batch];
    if (key === null) parts.push(artifacts.map(({ type, payload }) => [type, payload]));
    else {
      const result = await this.evaluator.evaluate(key, { payload: view, artifact: artifacts[0], inputs: artifacts });
      if (!result.ok) throw new CacheKeyError(`the key of cache fails: ${result.error}`);
      if (result.value === null) throw new CacheKeyError('the key of cache is null');
      parts.push(result.value);
    }
    return hash('sha256', JSON.stringify(parts), 'base64url');
  }
}

/** A list of outputs from outside has a meaning that an equal object of an agent's own code does not have. */
type StoredAnswer = { answer: unknown } | { outputs: readonly unknown[] };

/** Null if the answer comes later, or is not JSON, which the check of the answer says. */
function textOf(answer: unknown): string | null {
  if (answer instanceof DeferredCompletion) return null;
  const stored: StoredAnswer =
    answer instanceof ExplicitOutputs ? { outputs: answer.outputs } : { answer: answer ?? null };
  try {
    return JSON.stringify(stored);
  } catch {
    return null;
  }
}

function parsedAnswer(text: string): unknown {
  const stored = JSON.parse(text) as StoredAnswer;
  return 'outputs' in stored ? new ExplicitOutputs(stored.outputs) : stored.answer;
}

/** The same inputs would fail again. */
class CacheKeyError extends Error {
  override readonly name = 'cache_key';
  readonly isFinal = true;
}
