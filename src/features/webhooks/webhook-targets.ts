import { createHash } from 'node:crypto';

import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';

import type { TrackedCorrelation } from '../../blackboard/correlations/tracked-correlation.js';
import type { PublishCompanion } from '../../blackboard/publishing/publication.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Settings } from '../../config/settings.js';
import { StartError } from '../../database/start-error.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Outbound } from '../../http-client/outbound.js';
import { StoredSecrets } from './stored-secrets.js';
import { type WebhookTarget, WebhookTargetsRepository } from './webhook-targets.repository.js';

/** The `webhook` field of a publish. */
export interface Webhook {
  url: string;
  secret?: string;
}

const MOST_TARGETS = 10;
/** Number of targets whose secrets are checked at start, to find a changed secret key. */
const LOOKED_AT = 1_000;

/**
 * The targets of webhooks: the operator's, which gets every artifact, and those that clients name for a correlation.
 */
@Injectable()
export class WebhookTargets implements OnModuleInit {
  private operators: Pick<WebhookTarget, 'id' | 'origin'> | null = null;

  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly targets: WebhookTargetsRepository,
    private readonly outbound: Outbound,
    private readonly secrets: StoredSecrets,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** The target of every artifact; null if none is configured. */
  get operator(): Pick<WebhookTarget, 'id' | 'origin'> | null {
    return this.operators;
  }

  /**
   * Returns the rows that a publish with `webhook` also stores. Throws DomainError `invalid` if the URL is not
   * allowed.
   */
  async forPublish({ url, secret }: Webhook): Promise<PublishCompanion> {
    if (this.settings.clientWebhooks === 'off') {
      throw new DomainError(
        'invalid',
        'webhook: this service sends no webhooks for clients (client_webhooks is off); publish without webhook',
      );
    }
    this.outbound.check(url, 'client', 'webhook.url');
    const target = this.clientsTarget(new URL(url), secret);
    const isKnown = await this.targets.isKnown(this.unitOfWork.reader, target.fingerprint);
    return {
      // Publishes that store the same new target at the same time would wait for each other with their correlations
      // locked.
      names: isKnown ? [] : [`webhook target ${target.fingerprint}`],
      store: (tx, correlation) => this.add(tx, correlation, target),
    };
  }

  /** Throws StartError if the configured URL is not allowed. */
  async onModuleInit(): Promise<void> {
    await this.warnOfOtherKey();
    const { webhookUrl } = this.settings;
    if (webhookUrl === null) return;
    this.refuseUnusable(webhookUrl);
    const target = this.operatorsTarget(new URL(webhookUrl));
    const id = await this.unitOfWork.run((tx) => this.targets.ensure(tx, target));
    this.operators = { id, origin: target.origin };
  }

  private refuseUnusable(webhookUrl: string): void {
    try {
      this.outbound.check(webhookUrl, 'operator', 'webhook_url');
    } catch (error) {
      throw new StartError((error as DomainError).message);
    }
  }

  private async add(tx: Transaction, correlation: TrackedCorrelation, target: WebhookTarget): Promise<void> {
    const id = await this.targets.ensure(tx, target);
    if (correlation.webhook_targets > 0 && (await this.targets.isTargetOf(tx, correlation.id, id))) return;
    if (correlation.webhook_targets >= MOST_TARGETS) {
      throw new DomainError(
        'invalid',
        `webhook: correlation ${correlation.id} already has the maximum of ${MOST_TARGETS} targets; publish without webhook, or into another correlation`,
      );
    }
    correlation.webhook_targets += 1;
    await this.targets.add(tx, correlation.id, id, correlation.webhook_targets);
  }

  private clientsTarget({ href, origin }: URL, secret: string | undefined): WebhookTarget {
    const id = newId();
    const target = { id, url: href, origin, by: 'client', created_at: this.clock.now() } as const;
    if (secret === undefined) return { ...target, secrets: null, fingerprint: hashed(`client ${href}`) };
    const { sealed, fingerprint } = this.secrets.store({ id, url: href, secrets: [secret] });
    return { ...target, secrets: sealed, fingerprint };
  }

  private operatorsTarget({ href, origin }: URL): WebhookTarget {
    return {
      id: newId(),
      url: href,
      origin,
      by: 'operator',
      secrets: null,
      fingerprint: hashed(`operator ${href}`),
      created_at: this.clock.now(),
    };
  }

  // A changed key does not stop the start: everything else works, and deliveries can be sent again when the key is
  // back.
  private async warnOfOtherKey(): Promise<void> {
    const stored = await this.targets.newestSecrets(this.unitOfWork.reader, LOOKED_AT);
    const unreadable = stored.filter((sealed) => !this.secrets.canRead(sealed)).length;
    if (unreadable > 0) {
      this.logger.error(
        { targets: unreadable },
        'secret_key: webhook secrets were stored with another key, so their deliveries fail; start with that key, or ask clients to send the secrets again',
      );
    }
  }
}

const hashed = (text: string): string => createHash('sha256').update(text).digest('hex');
