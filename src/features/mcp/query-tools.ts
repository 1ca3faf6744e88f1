import { Injectable } from '@nestjs/common';

import { DomainError } from '../../common/domain-error.js';
import type { JsonObject } from '../../common/json.js';
import { nearestName } from '../../common/names-in-messages.js';
import { shown } from '../../common/short-text.js';
import { MOST_FILTER_TAGS, MOST_FILTER_VALUES } from '../../http/validation/filter-values.js';
import { AgentsService } from '../agents/agents.service.js';
import { ArtifactQueriesService } from '../artifacts/artifact-queries.service.js';
import { ArtifactListQuery } from '../artifacts/dto/artifact-list.js';
import { CorrelationsService } from '../correlations/correlations.service.js';
import { RunsService } from '../runs/runs.service.js';
import { argumentsSchema, shortText, text, texts } from './argument-schemas.js';
import { checkedQuery, textOf } from './arguments.js';
import type { Tool } from './tool.js';

const LIST_ARGUMENTS: JsonObject = {
  type: texts('Any of these artifact types', MOST_FILTER_VALUES),
  produced_by: texts('Any of these producers: agents, or `external` for clients', MOST_FILTER_VALUES),
  correlation_id: text('Id of the workflow'),
  tag: texts('All of these tags', MOST_FILTER_TAGS),
  from: text('Created at this time or later, ISO 8601'),
  to: text('Created at this time or earlier, ISO 8601'),
  order: {
    type: 'string',
    enum: ['asc', 'desc'],
    default: 'asc',
    description: 'asc: oldest first; desc: newest first',
  },
  limit: { type: 'integer', minimum: 1, maximum: 500, default: 50 },
  after: text('An artifact id; the page begins after this artifact'),
};

/** The read-only tools. */
@Injectable()
export class QueryTools {
  constructor(
    private readonly artifacts: ArtifactQueriesService,
    private readonly correlations: CorrelationsService,
    private readonly runs: RunsService,
    private readonly agents: AgentsService,
  ) {}

  tools(): Tool[] {
    return [
      this.lookup('get_artifact', 'Get an artifact.', { artifact_id: shortText('Id of the artifact') }, (given) =>
        this.artifacts.get(textOf(given, 'artifact_id')),
      ),
      this.lookup(
        'list_artifacts',
        'List artifacts in the order of publishing. An artifact must match all arguments.',
        LIST_ARGUMENTS,
        (given) => this.artifacts.list(checkedQuery(ArtifactListQuery, given)),
      ),
      this.lookup(
        'correlation_status',
        "Get a workflow's state and counts. Poll every 2 to 5 seconds while it is `active`.",
        { correlation_id: shortText('Id of the workflow') },
        (given) => this.correlations.status(textOf(given, 'correlation_id')),
      ),
      this.lookup(
        'get_run',
        'Get a run, with its result when it has completed.',
        { run_id: shortText('Id of the run') },
        (given) => this.runs.get(textOf(given, 'run_id')),
      ),
      this.lookup('list_agents', 'List the agents, with the artifact types that they consume and publish.', {}, () =>
        this.agents.list(),
      ),
      this.lookup('list_artifact_types', 'List the artifact types, without their schemas.', {}, async () =>
        this.types(),
      ),
      this.lookup(
        'get_artifact_type',
        'Get an artifact type with the JSON Schema of its payloads.',
        { type: shortText('Name of the type') },
        async (given) => this.type(textOf(given, 'type')),
      ),
    ];
  }

  /** Makes a tool. The arguments of a list are optional; a tool with a single argument requires it. */
  private lookup(
    name: string,
    description: string,
    properties: JsonObject,
    find: (given: JsonObject) => Promise<object>,
  ): Tool {
    const names = Object.keys(properties);
    const inputSchema = argumentsSchema(properties, names.length === 1 ? names : []);
    return { name, description, inputSchema, reads: true, call: async (given) => ({ body: await find(given) }) };
  }

  private types(): object {
    return {
      artifact_types: this.artifacts
        .types()
        .artifact_types.map(({ name, version, description }) => ({ name, version, description })),
    };
  }

  private type(name: string): object {
    const types = this.artifacts.types().artifact_types;
    const found = types.find((type) => type.name === name);
    if (found) return found;
    const nearest = nearestName(
      name,
      types.map((type) => type.name),
    );
    throw new DomainError(
      'not_found',
      `Artifact type not found: ${shown(name)}; ${nearest === undefined ? 'list_artifact_types lists the known ones' : `did you mean ${nearest}?`}`,
    );
  }
}
