import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';

import type { Catalog } from '../../catalog/catalog.js';
import { VERSION } from '../../common/version.js';
import type { Settings } from '../../config/settings.js';
import { PATH_DOES_NOT_DECODE } from '../../http/middleware/path-check.js';
import { placeForm, schemaParts, schemasByName } from '../../http/openapi/additions.js';
import { describeError, ErrorBody, type ErrorStatus } from '../../http/openapi/api-errors.js';
import { loadSwagger } from '../../http/openapi/documentation.js';
import { closeBodies } from './closed-bodies.js';
import { configuredBounds } from './configured-bounds.js';
import { withDescribedDefaults } from './described-defaults.js';
import { withOwnExamples } from './own-examples.js';
import { addPayloads, type Components } from './payload-components.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Answer = Exclude<Operation['responses'][string], { $ref: string } | undefined>;

const DESCRIPTION = `Publish typed artifacts to a shared blackboard. Agents that subscribe to them run and publish more artifacts.
The service finishes everything that it has accepted.

Field names are snake_case; timestamps are UTC ISO 8601 with milliseconds. Every error has the body \`{"detail": "..."}\`. Every
response has the header \`X-Request-ID\`; search the service's log for this id.

JSON has at most 64 levels of nesting and no number beyond a double. No key of a payload is special. Texts are
well-formed Unicode; their lengths count characters, not bytes. Path, query and headers together have at most 16 KiB;
more is a 431.`;

const TAGS: Record<string, string> = {
  Artifacts: 'Publish artifacts, wait for the results of agents, and query the blackboard',
  Agents: 'List agents and their history; run an agent directly, pause it and resume it',
  Executions: 'An execution is one call of an agent: see states, attempts and errors, and retry a failed one',
  Operations: 'Retry or fail many executions in the background, and follow the progress',
  Limits: 'See and change the limits that agents share, and what is used of them',
  Schedules: 'Publish artifacts at times',
  'External work': 'Executions that remote workers and people claim and complete',
  Correlations: 'A correlation is a publish and everything that follows from it: see its state, counts and trace',
  Replays: 'Repeat what clients published, in a new correlation',
  Experiments: 'Try variants of agents on many rows, apart from live work, and compare their scores',
  Waiting: 'See which joins and batch windows wait, what has come and what is missing',
  Runs: 'Run a workflow that starts with one agent; wait for its end, or poll',
  Batches: 'Run an agent once for each row of a list or a CSV file, and follow the progress',
  Changelog: 'Follow published artifacts as a stream, or read them page by page',
  Webhooks: 'See webhook deliveries and their outcomes, and send them again',
  MCP: 'Use this API from models, as tools of the Model Context Protocol',
  Processes: 'See the live processes that share the database, and the agents of each',
  Health: 'Liveness and readiness probes',
  Metrics: 'Metrics for Prometheus',
  Docs: 'This documentation',
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const REQUEST_ID = 'X-Request-ID';

const DESCRIBED_REQUEST_ID = {
  description: 'The id of this request, which the service also writes to its log',
  schema: { type: 'string', format: 'uuid' as const },
  example: '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80',
};

/** Describes the running application. */
export async function buildOpenApi(
  application: INestApplication,
  settings: Settings,
  catalog: Catalog,
): Promise<OpenAPIObject> {
  const { DocumentBuilder, SwaggerModule } = await loadSwagger();
  const introduction = `${DESCRIPTION}\n\n${configuredBounds(settings)}`;
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle(settings.serverName)
    .setDescription(introduction)
    .setVersion(VERSION);
  for (const [name, description] of Object.entries(TAGS)) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(application, builder.addServer('/').build(), {
    extraModels: [ErrorBody],
    operationIdFactory: operationId,
  });
  for (const path of Object.values(document.paths)) {
    for (const method of METHODS) if (path[method]) complete(path[method], method);
  }
  const given: Record<string, object> = { ...document.components?.schemas, ...Object.fromEntries(schemasByName()) };
  for (const [name, part] of schemaParts()) if (given[name]) given[name] = { ...given[name], ...part };
  const schemas = withDescribedDefaults(given) as Components;
  closeBodies(document.paths, schemas);
  addPayloads(schemas, catalog.types);
  const components = { ...document.components, schemas, headers: { [REQUEST_ID]: DESCRIBED_REQUEST_ID } };
  // The API has no authentication (docs/security.md); an empty list says so.
  return withOwnExamples({ ...document, components, security: [] } as OpenAPIObject, catalog);
}

/** Maps `ArtifactsController.list` to `artifactsList`. Generated clients name their functions after it. */
function operationId(controller: string, method: string): string {
  const feature = controller.replace(/Controller$/, '');
  return feature[0]!.toLowerCase() + feature.slice(1) + method[0]!.toUpperCase() + method.slice(1);
}

const NO_DATABASE = 'The database cannot be used now: it cannot be reached; try again';

/** Adds the errors and headers that every route has, so that controllers do not repeat them. */
function complete(operation: Operation, method: (typeof METHODS)[number]): void {
  placeForm(operation);
  // A body that a POST does not need is still read and checked.
  const common: ErrorStatus[] = method === 'get' ? [403, 500] : [400, 403, 408, 413, 415, 500, 503];
  if (method === 'get') operation.responses[503] ??= describeError(503, NO_DATABASE);
  if (takesPathParameter(operation)) operation.responses[400] ??= describeError(400, PATH_DOES_NOT_DECODE);
  for (const status of common) operation.responses[status] ??= describeError(status);
  for (const answer of Object.values(operation.responses) as Answer[]) {
    answer.headers = { ...answer.headers, [REQUEST_ID]: { $ref: `#/components/headers/${REQUEST_ID}` } };
  }
}

const takesPathParameter = ({ parameters = [] }: Operation): boolean =>
  parameters.some((parameter) => 'in' in parameter && parameter.in === 'path');
