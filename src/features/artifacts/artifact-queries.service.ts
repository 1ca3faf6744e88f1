import { Injectable } from '@nestjs/common';

import { Explanations } from '../../blackboard/explain/explanations.js';
import { ArtifactStore } from '../../blackboard/queries/artifact-store.js';
import type { ArtifactSummary } from '../../blackboard/queries/artifact-summary.js';
import { ArtifactTotals } from '../../blackboard/queries/artifact-totals.js';
import { StoredTexts } from '../../blackboard/queries/stored-texts.js';
import { Catalog } from '../../catalog/catalog.js';
import type { ArtifactType } from '../../catalog/definitions.js';
import { typeNotFound } from '../../catalog/unknown-names.js';
import { DomainError } from '../../common/domain-error.js';
import { isUuid } from '../../common/ids.js';
import type { TextInParts } from '../../common/text-in-parts.js';
import { toTimestamp } from '../../common/timestamp.js';
import { type ListedArtifactsQuery, toListFilter } from '../../http/dto/artifact-filter-query.js';
import type { ArtifactListQuery } from './dto/artifact-list.js';
import type { ArtifactTypeBody, ArtifactTypesBody } from './dto/artifact-types-body.js';
import type { ExplanationBody } from './dto/explanation-body.js';
import type { SummaryBody } from './dto/summary-body.js';

/** Answers questions about artifacts and their types. */
@Injectable()
export class ArtifactQueriesService {
  constructor(
    private readonly artifacts: ArtifactStore,
    private readonly totals: ArtifactTotals,
    private readonly explanations: Explanations,
    private readonly texts: StoredTexts,
    private readonly catalog: Catalog,
  ) {}

  /** Returns an ArtifactListBody as JSON. Throws DomainError `invalid` for an unknown `after`. */
  async list(query: ArtifactListQuery): Promise<TextInParts> {
    const filter = toListFilter(query);
    const { limit, order } = query;
    const after = query.after === undefined ? null : await this.positionOf(query.after);
    const offset = after === null ? query.offset : 0;
    const rows = await this.artifacts.list(filter, { order, limit, offset, after });
    const items = await this.texts.items(rows, query.embed_meta ? 'consumed' : 'artifacts');
    // Counted after the page is read, so that the total includes everything on the page.
    const pagination = { limit, offset, total: await this.totals.count(filter) };
    return this.texts.of(['{"items":[', items, `],"pagination":${JSON.stringify(pagination)}}`]);
  }

  async summarize(query: ListedArtifactsQuery): Promise<SummaryBody> {
    return summaryBody(await this.totals.summarize(toListFilter(query)));
  }

  /** Returns an ArtifactBody as JSON. Throws DomainError `invalid` or `not_found`. */
  async get(id: string): Promise<TextInParts> {
    return this.texts.of([await this.texts.items([found(id, await this.artifacts.find(checked(id)))])]);
  }

  async explain(id: string): Promise<ExplanationBody> {
    return found(id, await this.explanations.of(checked(id)));
  }

  types(): ArtifactTypesBody {
    return { artifact_types: this.catalog.types.map(typeBody) };
  }

  /** DomainError `not_found`. */
  type(name: string): ArtifactTypeBody {
    const type = this.catalog.type(name);
    if (!type) throw new DomainError('not_found', typeNotFound(name, this.catalog));
    return typeBody(type);
  }

  private async positionOf(id: string): Promise<number> {
    const position = isUuid(id) ? await this.artifacts.positionOf(id.toLowerCase()) : undefined;
    if (position === undefined)
      throw new DomainError('invalid', `after: must be the id of an artifact (got ${JSON.stringify(id)})`);
    return position;
  }
}

const typeBody = ({ name, version, schema, description }: ArtifactType): ArtifactTypeBody => ({
  name,
  version,
  schema,
  description,
});

/** Returns the id in lower case, as ids are stored. Throws DomainError `invalid`. */
function checked(id: string): string {
  if (!isUuid(id)) throw new DomainError('invalid', `artifact_id: must be a UUID (got ${JSON.stringify(id)})`);
  return id.toLowerCase();
}

function found<T>(id: string, artifact: T | undefined): T {
  if (artifact === undefined) throw new DomainError('not_found', `Artifact not found: ${id}`);
  return artifact;
}

const summaryBody = (summary: ArtifactSummary): SummaryBody => ({
  summary: {
    total_count: summary.total,
    by_type: summary.byType,
    by_producer: summary.byProducer,
    by_visibility: summary.byVisibility,
    by_tag: summary.byTag,
    earliest_created_at: summary.earliestCreatedAt === null ? null : toTimestamp(summary.earliestCreatedAt),
    latest_created_at: summary.latestCreatedAt === null ? null : toTimestamp(summary.latestCreatedAt),
  },
});
