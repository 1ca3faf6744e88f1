import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';

import { hasParts, type Position } from '../../common/page-cursor.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { CorrelationsTable } from '../../database/schema.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { findCorrelation } from '../correlations/correlation-rows.js';
import { groupPosition, positionOf } from './group-position.js';
import { type Obstacles, OpenExecutions } from './open-executions.js';
import { countGroupsOf } from './open-group-rows.js';
import { OpenGroups } from './open-groups.js';
import { countReleasesOf, findReleases, type Release, type ReleasePosition } from './release-rows.js';
import { type Wait, type WaitingTimer, WAITS, type WaitsPage } from './waits.js';

/** The parts of a list of waits, in the order of the list and of the way that an artifact takes. */
const PARTS = ['deadline', 'release', 'group', 'execution'] as const;

type Part = (typeof PARTS)[number];

interface Found {
  position: Position;
  wait: Wait;
}

type Correlation = Pick<Selectable<CorrelationsTable>, 'id' | 'deadline_at'>;

/** A correlation, and what keeps its executions from starting. */
interface Searched {
  correlation: Correlation;
  obstacles: Obstacles;
}

/**
 * Shows what a correlation waits for. Its parts are read one after another, in the order in which artifacts move through
 * them, so that what moves meanwhile is not missing.
 */
@Injectable()
export class CorrelationWaits {
  constructor(
    private readonly groups: OpenGroups,
    private readonly executions: OpenExecutions,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Whether a page may begin after this position, which a client has sent. */
  isPosition([part, ...position]: Position): boolean {
    switch (part) {
      case 'deadline':
        return hasParts(position, []);
      case 'release':
        return hasParts(position, ['number', 'string']);
      case 'group':
        return groupPosition(position) !== undefined;
      default:
        return part === 'execution' && hasParts(position, ['number']);
    }
  }

  /** Undefined if the correlation does not exist. */
  async of(id: string, after: Position | null, limit: number): Promise<WaitsPage | undefined> {
    const found = await findCorrelation(this.unitOfWork.reader, id);
    if (!found) return undefined;
    // One that has ended can still have artifacts in joins and batch windows without a time limit, but no deadline.
    const correlation = { ...found, deadline_at: found.state === 'active' ? found.deadline_at : null };
    const { counts, obstacles } = await this.count(correlation);
    const waits = await this.find({ correlation, obstacles }, after, limit + 1);
    const page = waits.slice(0, limit);
    return {
      state: correlation.state,
      counts,
      items: page.map(({ wait }) => wait),
      next: waits.length > limit ? page.at(-1)!.position : null,
    };
  }

  private async count({ id, deadline_at }: Correlation) {
    const { reader } = this.unitOfWork;
    const release = await countReleasesOf(reader, id);
    const { joins, windows } = await countGroupsOf(reader, id);
    const { counts: ofExecutions, obstacles } = await this.executions.count(id);
    const deadline = deadline_at === null ? 0 : 1;
    return { counts: { ...NONE, deadline, release, join: joins, window: windows, ...ofExecutions }, obstacles };
  }

  private async find(searched: Searched, after: Position | null, limit: number): Promise<Found[]> {
    const [first, ...position] = after ?? [PARTS[0]];
    const found: Found[] = [];
    for (const part of PARTS.slice(PARTS.indexOf(first as Part))) {
      if (found.length >= limit) break;
      const within = after !== null && part === first ? position : null;
      const rows = await this.findIn(part, searched, within, limit - found.length);
      found.push(...rows.map(({ position, wait }) => ({ position: [part, ...position], wait })));
    }
    return found;
  }

  /** Null begins with the first of the part. */
  private async findIn(
    part: Part,
    { correlation: { id, deadline_at }, obstacles }: Searched,
    after: Position | null,
    limit: number,
  ): Promise<Found[]> {
    switch (part) {
      case 'deadline':
        return after || deadline_at === null ? [] : [{ position: [], wait: deadlineWait(deadline_at) }];
      case 'release': {
        const releases = await findReleases(this.unitOfWork.reader, id, after && releasePosition(after), limit);
        return releases.map((release) => ({ position: [release.due_at, release.id], wait: releaseWait(release) }));
      }
      case 'group': {
        const filter = { agent: null, correlationId: id };
        const groups = await this.groups.page(filter, after && groupPosition(after)!, limit);
        return groups.map(({ position, group }) => ({ position: positionOf(position), wait: group }));
      }
      case 'execution': {
        const executions = await this.executions.page(id, obstacles, after ? (after[0] as number) : 0, limit);
        return executions.map(({ position, execution }) => ({ position: [position], wait: execution }));
      }
    }
  }
}

const NONE = Object.fromEntries(WAITS.map((kind) => [kind, 0])) as WaitsPage['counts'];

const releasePosition = ([due_at, id]: Position): ReleasePosition => ({
  due_at: due_at as number,
  id: id as string,
});

const deadlineWait = (at: number): WaitingTimer => ({
  kind: 'deadline',
  artifact_id: null,
  artifact_type: null,
  since: null,
  until: toTimestamp(at),
});

const releaseWait = ({ artifact_id, artifact_type, created_at, due_at }: Release): WaitingTimer => ({
  kind: 'release',
  artifact_id,
  artifact_type,
  since: toTimestamp(created_at),
  until: toTimestamp(due_at),
});
