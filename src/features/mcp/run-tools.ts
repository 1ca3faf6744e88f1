import { Injectable } from '@nestjs/common';

import type { StoredText } from '../../blackboard/queries/stored-texts.js';
import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import type { HeldRequest } from '../../common/held-request.js';
import type { JsonObject } from '../../common/json.js';
import { DEFAULT_TIMEOUT_SECONDS } from '../artifacts/dto/sync-publish-request.js';
import type { RequestIds } from '../idempotency/request-ids.js';
import { RunsService } from '../runs/runs.service.js';
import { argumentsSchema, shortText, WORK_ARGUMENTS } from './argument-schemas.js';
import { checked } from './arguments.js';
import { RunArguments } from './dto/work-arguments.js';
import { HeldCall } from './held-call.js';
import { inputsSchema } from './inputs-schema.js';
import { KeyedWork } from './keyed-work.js';
import { MAX_TOOLS_OF_A_KIND, type Tool, type ToolAnswer, toolName } from './tool.js';

/** Makes a tool for each agent that can start a workflow, or one tool for all if there are many. */
@Injectable()
export class RunTools {
  constructor(
    private readonly catalog: Catalog,
    private readonly runs: RunsService,
    private readonly work: KeyedWork,
  ) {}

  tools(): Tool[] {
    const agents = this.catalog.agents.filter(({ subscriptions }) => subscriptions.length > 0);
    return agents.length > MAX_TOOLS_OF_A_KIND ? [this.forAll()] : agents.map((agent) => this.forOne(agent));
  }

  private forOne(agent: AgentDefinition): Tool {
    const { schema, types } = inputsSchema(agent, this.catalog, ['properties', 'inputs']);
    return {
      name: toolName('run_', agent.name),
      description:
        `Run the workflow that starts with the agent ${agent.name}, and wait for its result. ${agent.description}`.trim(),
      inputSchema: argumentsSchema({ inputs: schema, ...WORK_ARGUMENTS }, ['inputs'], types),
      reads: false,
      call: (given, held) => this.run(Object.assign(given, { agent_name: agent.name }), held),
    };
  }

  private forAll(): Tool {
    const what = {
      agent_name: shortText('Name of an agent from list_agents'),
      inputs: {
        type: 'object',
        description:
          'Payload of the type that the agent consumes, or an object keyed by type name if it consumes several',
      },
    };
    return {
      name: 'run_agent',
      description: 'Run the workflow that starts with an agent, and wait for its result.',
      inputSchema: argumentsSchema({ ...what, ...WORK_ARGUMENTS }, ['agent_name', 'inputs']),
      reads: false,
      call: (given, held) => this.run(given, held),
    };
  }

  private run(given: JsonObject, held: HeldRequest): Promise<ToolAnswer> {
    const request = checked(RunArguments, given);
    const call = new HeldCall(held, [request]);
    return this.work.answer('run', given, call, (ids) => this.runAndWait(request, ids, call));
  }

  /**
   * Waits up to the timeout only. REST waits without one, but MCP clients give up after a minute and would lose the
   * run's id.
   */
  private async runAndWait(request: RunArguments, ids: RequestIds, held: HeldRequest): Promise<StoredText> {
    const { timeout = DEFAULT_TIMEOUT_SECONDS } = request;
    await this.runs.start(Object.assign(request, { async_run: true }), ids, held);
    return this.runs.whenEnded(ids.correlationId, timeout * 1_000);
  }
}
