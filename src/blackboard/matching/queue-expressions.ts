import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import {
  type Fairness,
  LEAST_WEIGHT,
  MOST_PRIORITY,
  MOST_WEIGHT,
  type SingletonRule,
  type Subscription,
} from '../../catalog/definitions.js';
import { ExpressionEvaluator, type ExpressionVariables } from '../../cel/evaluator.js';
import type { AgentArtifact } from '../../engines/engine.js';
import { externalWork } from '../../engines/external/external-work.js';
import { CancelKeys, UNKNOWN_KEY } from './cancel-keys.js';
import { inputView } from './input-view.js';
import { LimitKeys } from './limit-keys.js';
import { findKeyProblem, NO_VALUES, type QueueProblem, type QueueValues } from './queue-values.js';

type Found<Value> = Value | { problem: QueueProblem };

/** Evaluates the expressions that decide when an execution starts and what cancels it. */
@Injectable()
export class QueueExpressions {
  constructor(
    private readonly catalog: Catalog,
    private readonly evaluator: ExpressionEvaluator,
    private readonly limitKeys: LimitKeys,
    private readonly cancelKeys: CancelKeys,
  ) {}

  /** Undefined if the inputs decide them. */
  withoutInputs({ agent, priorityBy }: Subscription): QueueValues | undefined {
    const limit_keys = this.limitKeys.withoutInputs(agent);
    if (limit_keys === undefined || priorityBy !== null || this.fairnessOf(agent) || this.cancelKeys.has(agent))
      return undefined;
    if (this.singletonOf(agent)) return undefined;
    return { ...NO_VALUES, limit_keys };
  }

  /** The values of an execution while its inputs are still to be evaluated. */
  notComputed(agent: string): QueueValues {
    return {
      ...NO_VALUES,
      cancel_key: this.cancelKeys.has(agent) ? UNKNOWN_KEY : null,
      singleton_key: this.singletonOf(agent) ? UNKNOWN_KEY : null,
    };
  }

  /** `problem`: why the execution cannot run. Call it before a transaction: it may take a second. */
  async of(
    { agent, priorityBy }: Pick<Subscription, 'agent' | 'priorityBy'>,
    inputs: AgentArtifact[],
    batch: boolean,
  ): Promise<Found<{ values: QueueValues }>> {
    const limits = await this.limitKeys.of(agent, inputs, batch);
    if ('problem' in limits) return limits;
    const fairness = this.fairnessOf(agent);
    const variables = { payload: inputView(inputs, batch), artifact: inputs[0]!, inputs };
    const fair = fairness ? await this.fairKey(fairness, variables) : { fair_key: null, fair_weight: null };
    if ('problem' in fair) return fair;
    const priority = priorityBy === null ? null : await this.priority(priorityBy, variables);
    if (priority !== null && typeof priority !== 'number') return priority;
    const rule = this.singletonOf(agent);
    const singleton = rule ? await this.singletonKey(rule, variables) : { singleton_key: null };
    if ('problem' in singleton) return singleton;
    const cancel_key = await this.cancelKeys.ofInputs(agent, variables);
    return { values: { limit_keys: limits.keys, ...fair, priority, cancel_key, ...singleton } };
  }

  private singletonOf(agent: string): SingletonRule | null {
    return this.catalog.agent(agent)?.singleton ?? null;
  }

  private async singletonKey(
    { key: source }: SingletonRule,
    variables: ExpressionVariables,
  ): Promise<Found<Pick<QueueValues, 'singleton_key'>>> {
    const found = await this.key(source, variables);
    if ('key' in found) return { singleton_key: found.key };
    return { problem: { type: 'singleton_key', message: `singleton.key ${found.reason}` } };
  }

  /** Returns the JSON of a key, or why the expression gives none. */
  private async key(source: string, variables: ExpressionVariables): Promise<{ key: string } | { reason: string }> {
    const result = await this.evaluator.evaluate(source, variables);
    if (!result.ok) return { reason: `fails: ${result.error}` };
    const reason = findKeyProblem(result.value);
    return reason === null ? { key: JSON.stringify(result.value) } : { reason };
  }

  private async priority(source: string, variables: ExpressionVariables): Promise<Found<number>> {
    const result = await this.evaluator.evaluate(source, variables);
    if (!result.ok) return { problem: { type: 'priority', message: `priority fails: ${result.error}` } };
    const { value } = result;
    if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= MOST_PRIORITY) return value;
    const message = `priority must give a whole number from -${MOST_PRIORITY} to ${MOST_PRIORITY}`;
    return { problem: { type: 'priority', message } };
  }

  /** An execution with an assignee is claimed for the assignee, and takes no turns. */
  private fairnessOf(name: string): Fairness | null {
    const agent = this.catalog.agent(name);
    return externalWork(agent)?.assignee ? null : (agent?.fairness ?? null);
  }

  private async fairKey(
    { by, weight }: Fairness,
    variables: ExpressionVariables,
  ): Promise<Found<Pick<QueueValues, 'fair_key' | 'fair_weight'>>> {
    const found = await this.key(by, variables);
    if ('reason' in found) return unfair(`fair_by ${found.reason}`);
    const weighed = weight === null ? null : await this.evaluator.evaluate(weight, variables);
    if (weighed?.ok === false) return unfair(`weight fails: ${weighed.error}`);
    const fair_weight = weighed ? weighed.value : 1;
    if (typeof fair_weight !== 'number' || !(fair_weight >= LEAST_WEIGHT && fair_weight <= MOST_WEIGHT))
      return unfair(`weight must give a number from ${LEAST_WEIGHT} to ${MOST_WEIGHT}`);
    return { fair_key: found.key, fair_weight };
  }
}

const unfair = (message: string): { problem: QueueProblem } => ({ problem: { type: 'fair_key', message } });

const TYPES: readonly (string | null)[] = [
  'limit_key',
  'fair_key',
  'priority',
  'singleton_key',
  'breaker_key',
] satisfies QueueProblem['type'][];

/** Whether an execution that failed with this error type was never queued with its values. */
export const isMissingValues = (errorType: string | null): boolean => TYPES.includes(errorType);
