import { Injectable } from '@nestjs/common';
import { Counter, Gauge, Histogram } from 'prom-client';

import {
  type AgentWork,
  type AttemptOutcome,
  Telemetry,
  type TryOutcome,
  type WorkOrigin,
} from '../../common/telemetry.js';
import { MetricsRegistry } from './metrics-registry.js';

const SHORT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];
const LONG_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800];

/** Records the core's telemetry as Prometheus metrics of this process. */
@Injectable()
export class PrometheusTelemetry extends Telemetry {
  private readonly executions: Histogram<'agent' | 'origin' | 'variant' | 'outcome'>;
  private readonly waits: Histogram<'agent' | 'origin'>;
  private readonly deliveries: Histogram<'outcome'>;
  private readonly deadDeliveries: Counter;
  private readonly transactions: Histogram;
  private readonly predicateFailures: Counter<'agent'>;
  private readonly timerFailures: Counter<'kind'>;
  private readonly streams: Gauge;
  private readonly tokens: Counter<'agent' | 'origin' | 'variant' | 'model' | 'direction'>;
  private readonly costs: Counter<'agent' | 'origin' | 'variant' | 'model'>;
  private readonly modelLatencies: Histogram<'agent' | 'origin' | 'variant' | 'model'>;

  constructor(registry: MetricsRegistry) {
    super();
    const registers = [registry];
    this.executions = new Histogram({
      name: 'starling_execution_duration_seconds',
      help: 'Duration of an attempt of an execution, by agent, origin (live or replay), variant and outcome',
      labelNames: ['agent', 'origin', 'variant', 'outcome'],
      buckets: LONG_SECONDS,
      registers,
    });
    this.waits = new Histogram({
      name: 'starling_queue_wait_seconds',
      help: 'Time from when an execution was ready to its claim',
      labelNames: ['agent', 'origin'],
      buckets: LONG_SECONDS,
      registers,
    });
    // No label for the target: clients choose the targets, so their number has no bound.
    this.deliveries = new Histogram({
      name: 'starling_delivery_duration_seconds',
      help: 'Duration of an attempt to deliver a webhook, by outcome',
      labelNames: ['outcome'],
      buckets: LONG_SECONDS,
      registers,
    });
    this.deadDeliveries = new Counter({
      name: 'starling_dead_deliveries_total',
      help: 'Webhook deliveries that ended dead after their last attempt, or were abandoned',
      registers,
    });
    this.transactions = new Histogram({
      name: 'starling_database_transaction_seconds',
      help: 'Duration of a write transaction, including its commit',
      buckets: SHORT_SECONDS,
      registers,
    });
    this.predicateFailures = new Counter({
      name: 'starling_predicate_failures_total',
      help: 'Predicates and join keys that failed, and so did not trigger their agent',
      labelNames: ['agent'],
      registers,
    });
    this.timerFailures = new Counter({
      name: 'starling_timer_failures_total',
      help: 'Timers that failed and were postponed, by kind',
      labelNames: ['kind'],
      registers,
    });
    this.streams = new Gauge({ name: 'starling_streams', help: 'Open streams of the changelog', registers });
    this.tokens = new Counter({
      name: 'starling_model_tokens_total',
      help: 'Tokens that models read (input) and wrote (output) for agents',
      labelNames: ['agent', 'origin', 'variant', 'model', 'direction'],
      registers,
    });
    this.costs = new Counter({
      name: 'starling_model_cost_total',
      help: 'Cost of these tokens, in the currency of the configured prices',
      labelNames: ['agent', 'origin', 'variant', 'model'],
      registers,
    });
    this.modelLatencies = new Histogram({
      name: 'starling_model_latency_seconds',
      help: 'Duration of all calls of a model in one attempt of an execution',
      labelNames: ['agent', 'origin', 'variant', 'model'],
      buckets: LONG_SECONDS,
      registers,
    });
  }

  executionEnded(work: AgentWork, outcome: AttemptOutcome, durationMs: number): void {
    this.executions.observe({ ...labelsOf(work), outcome }, durationMs / 1_000);
  }

  executionClaimed(agent: string, origin: WorkOrigin, waitedMs: number): void {
    this.waits.observe({ agent, origin }, waitedMs / 1_000);
  }

  deliveryTried(outcome: TryOutcome, durationMs: number): void {
    this.deliveries.observe({ outcome }, durationMs / 1_000);
    if (outcome === 'dead') this.deadDeliveries.inc();
  }

  deliveriesGivenUp(count: number): void {
    this.deadDeliveries.inc(count);
  }

  transactionEnded(durationMs: number): void {
    this.transactions.observe(durationMs / 1_000);
  }

  predicateFailed(agent: string): void {
    this.predicateFailures.inc({ agent });
  }

  timerFailed(kind: string): void {
    this.timerFailures.inc({ kind });
  }

  streamsOpen(count: number): void {
    this.streams.set(count);
  }

  modelUsed(
    work: AgentWork,
    { model, inputTokens, outputTokens, cost, latencyMs }: Parameters<Telemetry['modelUsed']>[1],
  ): void {
    const labels = { ...labelsOf(work), model };
    this.tokens.inc({ ...labels, direction: 'input' }, inputTokens);
    this.tokens.inc({ ...labels, direction: 'output' }, outputTokens);
    if (cost !== null) this.costs.inc(labels, cost);
    this.modelLatencies.observe(labels, latencyMs / 1_000);
  }
}

/** Agents without variants have no such label. */
const labelsOf = ({ agent, origin, variant }: AgentWork) => ({ agent, origin, ...(variant !== null && { variant }) });
