import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { type ArtifactType, WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { embeddedSchema } from '../../catalog/schemas/embedded-schema.js';
import { takesFromClients } from '../../catalog/trigger-graph.js';
import type { HeldRequest } from '../../common/held-request.js';
import type { JsonObject } from '../../common/json.js';
import { PublishingService } from '../artifacts/publishing.service.js';
import { argumentsSchema, shortText, texts, WORK_ARGUMENTS } from './argument-schemas.js';
import { checked } from './arguments.js';
import { PublishArguments } from './dto/work-arguments.js';
import { HeldCall } from './held-call.js';
import { KeyedWork } from './keyed-work.js';
import { MAX_TOOLS_OF_A_KIND, type Tool, type ToolAnswer, toolName } from './tool.js';

const PUBLISHING_ARGUMENTS: JsonObject = {
  tags: texts('Tags that agents and queries can filter by'),
  partition_key: shortText("The caller's partition of the data"),
  ...WORK_ARGUMENTS,
};

/** Makes a tool for each type that starts or cancels work when a client publishes it, or one tool for all if there are many. */
@Injectable()
export class PublishTools {
  constructor(
    private readonly catalog: Catalog,
    private readonly publishing: PublishingService,
    private readonly work: KeyedWork,
  ) {}

  tools(): Tool[] {
    const types = this.catalog.types.filter(
      ({ name }) =>
        this.catalog.subscriptionsTo(name).some((subscription) => takesFromClients(subscription, name)) ||
        (name !== WORKFLOW_ERROR && this.catalog.cancelledBy(name).length > 0),
    );
    return types.length > MAX_TOOLS_OF_A_KIND ? [this.forAll()] : types.map((type) => this.forOne(type));
  }

  private forOne(type: ArtifactType): Tool {
    const payload = embeddedSchema(type, ['properties', 'payload']);
    return {
      name: toolName('publish_', type.name),
      description: `Publish an artifact of type ${type.name} and wait for the results. ${type.description}`.trim(),
      inputSchema: argumentsSchema({ payload, ...PUBLISHING_ARGUMENTS }, ['payload'], [type]),
      reads: false,
      call: (given, held) => this.publish(Object.assign(given, { type: type.name }), held),
    };
  }

  private forAll(): Tool {
    const what = {
      type: shortText('Name of an artifact type from list_artifact_types'),
      payload: { type: 'object', description: 'Payload that matches the schema from get_artifact_type' },
    };
    return {
      name: 'publish',
      description: 'Publish an artifact and wait for the results.',
      inputSchema: argumentsSchema({ ...what, ...PUBLISHING_ARGUMENTS }, ['type', 'payload']),
      reads: false,
      call: (given, held) => this.publish(given, held),
    };
  }

  private publish(given: JsonObject, held: HeldRequest): Promise<ToolAnswer> {
    const request = checked(PublishArguments, given);
    const call = new HeldCall(held, [request]);
    return this.work.answer('publish', given, call, (ids) => this.publishing.publishAndWait(request, ids, call));
  }
}
