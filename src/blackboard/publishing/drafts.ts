import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { EXTERNAL } from '../../catalog/definitions.js';
import type { Path } from '../../catalog/diagnostics.js';
import { GrowthLimit } from '../../catalog/growth-limit.js';
import { describeVisibilityProblem, findTtlProblem } from '../../catalog/parse-visibility.js';
import { unknownType } from '../../catalog/unknown-names.js';
import { PUBLIC } from '../../catalog/visibility.js';
import { rememberText } from '../../cel/language/json-text.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import { Settings } from '../../config/settings.js';
import type { ArtifactDraft } from '../artifacts/artifact-writer.js';
import type { Publication } from './publication.js';

/** The fields of a client's artifact. Without a visibility it is public. `place`: where the request has the payload, for messages. */
type Given = Omit<Publication, 'visibility'> &
  Partial<Pick<Publication, 'visibility'>> & { producedBy?: string; replay?: boolean; place?: Path };

/** Checks artifacts of clients, and makes them ready to be stored. */
@Injectable()
export class Drafts {
  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly memory: MemoryBudget,
  ) {}

  /** A limit for the defaults of all payloads of one request. */
  growthLimit(): GrowthLimit {
    return new GrowthLimit(this.settings.bodyLimitBytes);
  }

  /**
   * Checks an artifact like `check`, and runs `work` with it. Reserves the memory of the defaults meanwhile; DomainError
   * `unavailable` if there is none.
   */
  async with<Result>(given: Given, work: (draft: ArtifactDraft) => Promise<Result>): Promise<Result> {
    const limit = this.growthLimit();
    const draft = this.check(given, limit);
    return this.memory.during(limit.memoryBytes, () => work(draft));
  }

  /**
   * Fills in the defaults of the type, within `limit`. DomainError `invalid` if the type is unknown, the payload does not match its schema, or the `ttl` of the visibility
   * is too long.
   */
  check(given: Given, limit: GrowthLimit): ArtifactDraft {
    const type = this.catalog.type(given.type);
    if (!type) throw new DomainError('invalid', unknownType(given.type, this.catalog));
    const accepted = type.accept(given.payload, limit, given.place);
    if ('problem' in accepted) throw new DomainError('invalid', accepted.problem);
    const { payload } = accepted;
    const visibility = given.visibility ?? PUBLIC;
    const ttlProblem = findTtlProblem(visibility, this.settings.maxTtlMs);
    if (ttlProblem !== null) throw new DomainError('invalid', `visibility: ${describeVisibilityProblem(ttlProblem)}`);
    const payloadText = JSON.stringify(payload);
    rememberText(payload, payloadText);
    return {
      id: given.artifactId,
      type: type.name,
      version: type.version,
      payload,
      payloadText,
      producedBy: given.producedBy ?? EXTERNAL,
      visibility,
      tags: given.tags,
      partitionKey: given.partitionKey,
      correlationId: given.correlationId,
      executionId: null,
      replay: given.replay ?? false,
      createdAt: this.clock.now(),
    };
  }
}
