import { Inject, Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
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

/** Whether an artifact cancels executions of an agent, and why not. */
export type CancelVerdict = { agent: AgentDefinition } & (
  { kind: 'cancels'; key: string } | { kind: 'own_output' | 'visibility' | 'key_null' } | KeyError
);

interface KeyError {
  kind: 'key_error';
  message: string;
}

/** The key of an execution whose key is not computed yet. Other keys are JSON, and never empty. */
export const UNKNOWN_KEY = '';

/** Whether the key in `executions.cancel_key` or `executions.singleton_key` is not computed yet. */
export const isUnknown = (key: string | null): boolean => key !== null && keyWithoutReplay(key) === UNKNOWN_KEY;

const NONE: readonly CancelVerdict[] = [];

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

  /** Returns the key of an execution, in the form of `Cancel`. Null if nothing cancels it. Errors are logged. */
  async ofInputs(agent: string, variables: ExpressionVariables): Promise<string | null> {
    const rule = this.catalog.agent(agent)?.cancelOn;
    if (!rule) return null;
    const found = await this.evaluate(rule.key, variables);
    if (found.kind === 'key_error') this.report(agent, found.message);
    return found.kind === 'cancels' ? found.key : null;
  }

  /** Returns what an artifact cancels now. Errors of expressions are logged. */
  async of(matchable: Matchable): Promise<readonly Cancel[]> {
    const cancels: Cancel[] = [];
    for (const verdict of await this.verdicts(matchable, this.clock.now())) {
      const agent = verdict.agent.name;
      if (verdict.kind === 'key_error') this.report(agent, verdict.message);
      if (verdict.kind === 'cancels') cancels.push({ agent, key: verdict.key });
    }
    return cancels;
  }

  /**
   * The verdict at `now` (epoch ms) for each agent that artifacts of this type cancel. As with subscriptions, an agent must see
   * the artifact, and its own artifacts do not count. This logs nothing.
   */
  async verdicts({ artifact, visibility, createdAt }: Matchable, now: number): Promise<readonly CancelVerdict[]> {
    const agents = this.catalog.cancelledBy(artifact.type);
    if (agents.length === 0) return NONE;
    const variables = { payload: artifact.payload, artifact, inputs: [artifact] };
    const verdicts: CancelVerdict[] = [];
    for (const agent of agents) {
      if (agent.name === artifact.produced_by) verdicts.push({ agent, kind: 'own_output' });
      else if (!canSee(agent, visibility, createdAt, now)) verdicts.push({ agent, kind: 'visibility' });
      else verdicts.push({ agent, ...(await this.evaluate(agent.cancelOn!.key, variables)) });
    }
    return verdicts;
  }

  private async evaluate(
    source: string,
    variables: ExpressionVariables,
  ): Promise<{ kind: 'cancels'; key: string } | { kind: 'key_null' } | KeyError> {
    const result = await this.evaluator.evaluate(source, variables);
    if (!result.ok) return { kind: 'key_error', message: `fails: ${result.error}` };
    // Null is how an expression says that something has no key.
    if (result.value === null) return { kind: 'key_null' };
    const problem = findKeyProblem(result.value);
    if (problem !== null) return { kind: 'key_error', message: problem };
    return { kind: 'cancels', key: JSON.stringify(result.value) };
  }

  // One line per agent, because the log must not grow with the traffic.
  private report(agent: string, problem: string): void {
    this.telemetry.predicateFailed(agent);
    if (this.logged.has(agent)) return;
    this.logged.add(agent);
    this.logger.warn({ agent }, `agents.${agent}.cancel_on.key ${problem}; nothing is cancelled (logged once)`);
  }
}
