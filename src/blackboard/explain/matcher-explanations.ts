import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { Subscription } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import { gathers, isJoin, refusal } from '../matching/matcher.js';
import { Matching } from '../matching/matching.js';
import type { Explanation } from './explanation.js';
import { type Offer, offerOf } from './offer.js';
import type { Recorded } from './records.repository.js';
import { refused } from './refusals.js';
import type { RefusingError } from './refusing-errors.js';
import { ofError } from './stored-facts.js';

/**
 * Explains subscriptions about which nothing is stored: the matcher decides, with the current configuration, as it
 * would have when the artifact was published.
 */
@Injectable()
export class MatcherExplanations {
  constructor(
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly matching: Matching,
  ) {}

  /** How the artifact is offered to the agents now. */
  offerOf(row: ArtifactRow, recorded: Recorded): Offer {
    return offerOf(row, recorded, this.clock.now());
  }

  /** Returns the explanation for each of these subscriptions, which have no stored data. */
  async of(
    subscriptions: Subscription[],
    { matchable, at, notOffered }: Offer,
    recorded: Recorded,
    errors: RefusingError[],
  ): Promise<[Subscription, Explanation][]> {
    const asked =
      notOffered === null
        ? subscriptions
        : subscriptions.filter((subscription) => refusal(subscription, matchable, this.catalog, at) === 'type');
    const verdicts = new Map(
      (await this.matching.verdicts(matchable, asked, at)).map((verdict) => [verdict.subscription, verdict]),
    );
    return subscriptions.map((subscription) => {
      const verdict = verdicts.get(subscription);
      if (!verdict) return [subscription, explanation(subscription, 'not_offered', notOffered!)];
      if (verdict.kind !== 'triggered')
        return [subscription, refused(verdict, matchable, this.catalog.agent(subscription.agent)!)];
      return [subscription, whyNoExecution(subscription, recorded, errors)];
    });
  }
}

/** Explains why the matcher accepts the artifact and yet nothing is stored. */
function whyNoExecution(
  subscription: Subscription,
  { releaseAt, correlation }: Recorded,
  errors: RefusingError[],
): Explanation {
  if (releaseAt !== null) {
    const until = toTimestamp(releaseAt);
    return {
      ...explanation(subscription, 'not_released', `It is not released yet: its subscriptions get it at ${until}.`),
      until,
    };
  }
  const error = takeError(errors, subscription);
  if (error) return ofError(error, subscription.index);
  if (correlation?.state === 'cancelled')
    return explanation(subscription, 'cancelled', 'Its correlation was cancelled before the agent ran.');
  const dropped = isJoin(subscription) ? whyDropped(subscription, correlation) : null;
  if (dropped !== null) return explanation(subscription, 'join_let_go', dropped);
  return explanation(
    subscription,
    'not_recorded',
    'It would trigger the agent today, but nothing is stored about it. Either the subscription has changed, or its group ended with another correlation.',
  );
}

/** Why a join has dropped the group of the artifact; null if no join does so. */
function whyDropped({ join, where }: Subscription, correlation: Recorded['correlation']): string | null {
  const isReplay = correlation?.replay_mode != null;
  const takesNoMore = correlation?.closed === 1 || (isReplay && correlation?.state !== 'active');
  const isWithin = isReplay || (join?.by ?? null) === null;
  if (!takesNoMore || !isWithin)
    return where === null ? null : 'It joined a group whose where was not true, and the group was dropped.';
  return where === null
    ? 'Its correlation ended before the other types of its group arrived, and the group was dropped.'
    : 'It joined a group whose where was not true, or whose other types had not arrived when the correlation ended, and the group was dropped.';
}

/**
 * A `limit` error applies to all subscriptions of an agent. An error that ended a group's waiting applies to one of
 * those that wait.
 */
function takeError(errors: RefusingError[], subscription: Subscription): RefusingError | undefined {
  const waits = gathers(subscription);
  const error = errors.find(({ agent, errorType }) => agent === subscription.agent && (errorType === 'limit' || waits));
  if (error && error.errorType !== 'limit') errors.splice(errors.indexOf(error), 1);
  return error;
}

const explanation = ({ agent, index }: Subscription, verdict: Explanation['verdict'], detail: string): Explanation => ({
  agent,
  subscription: index,
  verdict,
  detail,
});
