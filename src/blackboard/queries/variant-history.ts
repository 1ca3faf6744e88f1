import { Injectable } from '@nestjs/common';

import type { AgentDefinition } from '../../catalog/definitions.js';
import { BASE } from '../../catalog/variants.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { findLastOf, sumUsageOf } from './variant-rows.js';

/** Executions of each variant that are compared. */
export const MOST_EXECUTIONS = 1_000;

/** The last executions of a variant of an agent. */
export interface HistoryOfVariant {
  /** That of the variant, or `base`. */
  name: string;
  executions: number;
  failures: number;
  /** Durations of their last attempts. Null without executions. */
  p50_ms: number | null;
  p95_ms: number | null;
  usage: Awaited<ReturnType<typeof sumUsageOf>>;
}

/** Compares the variants of an agent: their failures, durations and costs. */
@Injectable()
export class VariantHistory {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** The agent's own options first. Empty, without a query, if the agent has no variants. */
  async of({ name: agent, variants }: AgentDefinition): Promise<HistoryOfVariant[]> {
    if (!variants) return [];
    const histories: HistoryOfVariant[] = [];
    // One after the other, so that a request does not take all connections to the database.
    for (const name of [BASE, ...variants.all.map((variant) => variant.name)])
      histories.push(await this.historyOf(agent, name));
    return histories;
  }

  private async historyOf(agent: string, name: string): Promise<HistoryOfVariant> {
    const { reader } = this.unitOfWork;
    const last = await findLastOf(reader, agent, name, MOST_EXECUTIONS);
    const durations = last
      .flatMap(({ attempt_started_at: start, ended_at }) => (start === null ? [] : [ended_at - start]))
      .sort((one, other) => one - other);
    return {
      name,
      executions: last.length,
      failures: last.filter(({ state }) => state === 'failed').length,
      p50_ms: quantile(durations, 0.5),
      p95_ms: quantile(durations, 0.95),
      usage: await sumUsageOf(reader, agent, name, MOST_EXECUTIONS),
    };
  }
}

/** The smallest value that is not below this share of them. `values` are sorted. */
const quantile = (values: readonly number[], share: number): number | null =>
  values.length === 0 ? null : values[Math.ceil(values.length * share) - 1]!;
