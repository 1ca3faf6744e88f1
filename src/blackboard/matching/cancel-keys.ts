import { Inject, Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { ExpressionEvaluator, type ExpressionVariables } from '../../cel/evaluator.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Telemetry } from '../../common/telemetry.js';
import { canSee } from '../artifacts/visibility-rules.js';
import type { Matchable } from './matcher.js';
import { findKeyProblem } from './queue-values.js';
import { keyWithoutReplay } from './replay-keys.js';

/** An artifact cancels the executions of this agent with this key. */
export interface Cancel {
  agent: string;
  /** JSON. */
  key: string;
}

/** The key of an execution whose key is not computed yet. Other keys are JSON, and never empty. */
export const UNKNOWN_KEY = '';

/** Whether the key in `executions.cancel_key` or `executions.singleton_key` is not computed yet. */
export const isUnknown = (key: string | null): boolean => key !== null && keyWithoutReplay(key) === UNKNOWN_KEY;

const NONE: readonly Cancel[] = [];

/** Computes the keys of `cancel_on`. Call it before a transaction: it may take a second. */
@Injectable()
export class CancelKeys {
  private readonly logged = new Set<string>();

  constructor(
    private readonly catalog: Catalog,
    private readonly evaluator: ExpressionEvaluator,
    private readonly clock: Clock,
    private readonly telemetry: Telemetry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Whether executions of the agent have keys. */
  has(agent: string): boolean {
    return Boolean(this.catalog.agent(agent)?.cancelOn);
  }

  /** Returns the key of an execution, in the form of `Cancel`. Null if nothing cancels it. */
  async ofInputs(agent: string, variables: ExpressionVariables): Promise<string | null> {
    const rule = this.catalog.agent(agent)?.cancelOn;
    return rule ? this.evaluate(agent, rule.key, variables) : null;
  }

  /**
   * Returns what an artifact cancels now. As with subscriptions, an agent must see the artifact, and its own artifacts do not
   * count. Errors of expressions are logged.
   */
  async of({ artifact, visibility, createdAt }: Matchable): Promise<readonly Cancel[]> {
    const agents = this.catalog.cancelledBy(artifact.type);
    if (agents.length === 0) return NONE;
    const now = this.clock.now();
    const cancels: Cancel[] = [];
    for (const agent of agents) {
      const { name, cancelOn } = agent;
      if (name === artifact.produced_by || !canSee(agent, visibility, createdAt, now)) continue;
      const variables = { payload: artifact.payload, artifact, inputs: [artifact] };
      const key = await this.evaluate(name, cancelOn!.key, variables);
      if (key !== null) cancels.push({ agent: name, key });
    }
    return cancels;
  }

  private async evaluate(agent: string, source: string, variables: ExpressionVariables): Promise<string | null> {
    const result = await this.evaluator.evaluate(source, variables);
    // Null is how an expression says that something has no key.
    if (result.ok && result.value === null) return null;
    const problem = result.ok ? findKeyProblem(result.value) : `fails: ${result.error}`;
    if (problem !== null) this.report(agent, problem);
    return result.ok && problem === null ? JSON.stringify(result.value) : null;
  }

  // One line per agent, because the log must not grow with the traffic.
  private report(agent: string, problem: string): void {
    this.telemetry.predicateFailed(agent);
    if (this.logged.has(agent)) return;
    this.logged.add(agent);
    this.logger.warn({ agent }, `agents.${agent}.cancel_on.key ${problem}; nothing is cancelled (logged once)`);
  }
}
