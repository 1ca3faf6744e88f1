import { Inject, Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { Subscription } from '../../catalog/definitions.js';
import { ExpressionEvaluator } from '../../cel/evaluator.js';
import type { EvaluationResult } from '../../cel/language/expression-program.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Telemetry } from '../../common/telemetry.js';
import type { AgentArtifact } from '../../engines/engine.js';
import { type Cancel, CancelKeys } from './cancel-keys.js';
import { inputView } from './input-view.js';
import {
  artifactPredicate,
  gathers,
  keyExpression,
  type Matchable,
  predicateVerdict,
  refusal,
  type Triggered,
  type Verdict,
  verdict,
} from './matcher.js';
import { QueueExpressions } from './queue-expressions.js';

/** The things that happen when an artifact is offered to the agents. */
export interface Reactions {
  triggered: readonly Triggered[];
  cancels: readonly Cancel[];
}

/** The reactions to an artifact that no agent gets. */
export const NO_REACTIONS: Reactions = { triggered: [], cancels: [] };

/** Evaluates the expressions for the matcher's verdicts. Call it before a transaction: it may take up to a second. */
@Injectable()
export class Matching {
  private readonly logged = new Set<string>();

  constructor(
    private readonly catalog: Catalog,
    private readonly evaluator: ExpressionEvaluator,
    private readonly queueExpressions: QueueExpressions,
    private readonly cancelKeys: CancelKeys,
    private readonly clock: Clock,
    private readonly telemetry: Telemetry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Returns what `matchable` triggers and cancels now. Errors of expressions are logged. */
  async reactions(matchable: Matchable): Promise<Reactions> {
    return { triggered: await this.triggered(matchable), cancels: await this.cancelKeys.of(matchable) };
  }

  /**
   * The subscriptions that `matchable` triggers now, in the order of the configuration. Errors of expressions are
   * logged.
   */
  async triggered(matchable: Matchable): Promise<Triggered[]> {
    const verdicts = await this.verdicts(
      matchable,
      this.catalog.subscriptionsTo(matchable.artifact.type),
      this.clock.now(),
    );
    for (const verdict of verdicts) {
      if (verdict.kind === 'where_error') this.report(verdict.subscription, 'where', verdict.message);
      if (verdict.kind === 'key_error')
        this.report(verdict.subscription, keyExpression(verdict.subscription)!.place, verdict.message);
    }
    const triggered = verdicts.filter((candidate): candidate is Triggered => candidate.kind === 'triggered');
    for (const each of triggered) {
      const { subscription } = each;
      if (gathers(subscription) || this.queueExpressions.withoutInputs(subscription)) continue;
      const found = await this.queueExpressions.of(subscription, [matchable.artifact], false);
      // If an expression fails, the execution is queued and fails with the reason.
      if ('values' in found) each.queueValues = found.values;
    }
    return triggered;
  }

  /** The verdict of each of these subscriptions at `now` (epoch ms), in their order. This logs nothing. */
  verdicts(matchable: Matchable, subscriptions: readonly Subscription[], now: number): Promise<Verdict[]> {
    return Promise.all(subscriptions.map((subscription) => this.verdictOf(subscription, matchable, now)));
  }

  /** Whether a completed join group passes its subscription's `where`. */
  async groupPasses(subscription: Subscription, inputs: AgentArtifact[]): Promise<boolean> {
    if (subscription.where === null) return true;
    const judged = predicateVerdict(await this.evaluate(subscription.where, inputs));
    if (judged.kind === 'where_error') this.report(subscription, 'where', judged.message);
    return judged.kind === 'true';
  }

  private async verdictOf(subscription: Subscription, matchable: Matchable, now: number): Promise<Verdict> {
    const refused = refusal(subscription, matchable, this.catalog, now);
    if (refused) return { kind: refused, subscription };
    const where = artifactPredicate(subscription);
    const key = keyExpression(subscription);
    return verdict(
      subscription,
      matchable,
      where === null ? null : await this.evaluate(where, [matchable.artifact]),
      key === null ? null : await this.evaluate(key.source, [matchable.artifact]),
    );
  }

  private evaluate(source: string, inputs: AgentArtifact[]): Promise<EvaluationResult> {
    return this.evaluator.evaluate(source, { payload: inputView(inputs, false), artifact: inputs[0]!, inputs });
  }

  // One line per expression: a wrong one fails on every artifact, and the log must not grow with the traffic.
  private report(subscription: Subscription, part: string, message: string): void {
    this.telemetry.predicateFailed(subscription.agent);
    const place = `agents.${subscription.agent}.consumes[${subscription.index}].${part}`;
    if (this.logged.has(place)) return;
    this.logged.add(place);
    this.logger.warn({ agent: subscription.agent }, `${place} fails and does not trigger (logged once): ${message}`);
  }
}
