import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { VERSION } from '../../common/version.js';
import type { Settings } from '../../config/settings.js';
import { describeError, type ErrorStatus } from '../../http/openapi/api-errors.js';
import { placeForm } from '../../http/openapi/api-form.js';
import { ErrorBody } from '../../http/dto/error-body.js';
import { schemaParts } from '../../http/dto/schema-part.js';
import { PATH_DOES_NOT_DECODE } from '../../http/middleware/path-check.js';
import { closeBodies } from './closed-bodies.js';
import { configuredBounds } from './configured-bounds.js';

type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type Answer = Exclude<Operation['responses'][string], { $ref: string } | undefined>;

const DESCRIPTION = `Publish typed artifacts to a shared blackboard; the agents that subscribe to them run and publish more.
What the service has accepted, it finishes.

Field names are snake_case, timestamps UTC ISO 8601 with milliseconds. Every error has the body \`{"detail": "..."}\`, and every
answer the header \`X-Request-ID\`, under which the service's log has the request.

JSON is nested at most 64 levels deep, and holds no number beyond a double. No key of a payload is special. Texts are well-formed Unicode, and their lengths count characters, not bytes. Path, query and headers have at most 16 KiB (431).`;

const TAGS: Record<string, string> = {
  Artifacts: 'Publish artifacts, wait for what agents make of them, and query what is on the blackboard',
  Agents: 'The agents, their subscriptions and history; run one directly, pause and resume one',
  Executions: 'One agent invoked on its inputs: states, attempts and errors; retry one that has failed',
  'External work': 'Executions that remote workers and people claim, and complete',
  Correlations: 'Everything that follows from one publish: its state and counts',
  Runs: 'Run a workflow that starts with an agent, wait for its end or come back for it',
  Batches: 'Run an agent over the rows of a list or a CSV file, and watch it',
  Changelog: 'What is published, as it is published: as a stream, or page by page',
  Webhooks: 'What is owed to webhooks, what came of it, and sending it again',
  MCP: 'The same as tools for models, by the Model Context Protocol',
  Processes: 'The live processes that share the database, and what each of them has',
  Health: 'For liveness and readiness probes',
  Metrics: 'For Prometheus',
  Docs: 'This documentation',
};

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

const REQUEST_ID = 'X-Request-ID';

const DESCRIBED_REQUEST_ID = {
  description: 'The id of this request, under which the log of the service has it',
  schema: { type: 'string', format: 'uuid' as const },
  example: '019a7f5e-0c1d-7c3a-9f63-5b1d2c4e6f80',
};

export function buildOpenApi(application: INestApplication, settings: Settings): OpenAPIObject {
  const introduction = `${DESCRIPTION}\n\n${configuredBounds(settings)}`;
  const builder = new DocumentBuilder().setOpenAPIVersion('3.0.3').setTitle(settings.serverName).setDescription(introduction).setVersion(VERSION);
  for (const [name, description] of Object.entries(TAGS)) builder.addTag(name, description);
  const document = SwaggerModule.createDocument(application, builder.addServer('/').build(), {
    extraModels: [ErrorBody],
    operationIdFactory: operationId,
  });
  for (const path of Object.values(document.paths)) {
    for (const method of METHODS) if (path[method]) complete(path[method], method);
  }
  for (const [name, part] of schemaParts()) Object.assign(document.components?.schemas?.[name] ?? {}, part);
  closeBodies(document);
  const components = { ...document.components, headers: { [REQUEST_ID]: DESCRIBED_REQUEST_ID } };
  // The API has no authentication (rest-api.md, section 5); an empty list says so.
  return { ...document, components, security: [] };
}

/** `ArtifactsController.list` becomes `artifactsList`: what generated clients call their functions. */
function operationId(controller: string, method: string): string {
  const feature = controller.replace(/Controller$/, '');
  return feature[0]!.toLowerCase() + feature.slice(1) + method[0]!.toUpperCase() + method.slice(1);
}

/** Adds what holds for every route, so that no controller has to repeat it. */
function complete(operation: Operation, method: (typeof METHODS)[number]): void {
  placeForm(operation);
  // A body that a POST does not ask for is read all the same, and can be wrong.
  const common: ErrorStatus[] = method === 'get' ? [403, 500] : [400, 403, 408, 413, 415, 500, 503];
  if (takesPathParameter(operation)) operation.responses[400] ??= describeError(400, PATH_DOES_NOT_DECODE);
  for (const status of common) operation.responses[status] ??= describeError(status);
  for (const answer of Object.values(operation.responses) as Answer[]) {
    answer.headers = { ...answer.headers, [REQUEST_ID]: { $ref: `#/components/headers/${REQUEST_ID}` } };
  }
}

const takesPathParameter = ({ parameters = [] }: Operation): boolean => parameters.some((parameter) => 'in' in parameter && parameter.in === 'path');
