import { Injectable } from '@nestjs/common';

import type { HeldRequest } from '../../common/held-request.js';
import type { JsonObject } from '../../common/json.js';
import { nearestName } from '../../common/names-in-messages.js';
import { refuseUnknown } from './arguments.js';
import { PublishTools } from './publish-tools.js';
import { QueryTools } from './query-tools.js';
import { RunTools } from './run-tools.js';
import type { Tool, ToolAnswer } from './tool.js';

const LONGEST_SHOWN = 100;

/** All tools, which follow from the configuration. */
@Injectable()
export class Tools {
  private readonly byName: ReadonlyMap<string, Tool>;

  constructor(publishTools: PublishTools, runTools: RunTools, queryTools: QueryTools) {
    const tools = [...publishTools.tools(), ...runTools.tools(), ...queryTools.tools()];
    this.byName = new Map(tools.map((tool) => [tool.name, tool]));
  }

  all(): Tool[] {
    return [...this.byName.values()];
  }

  /** Returns undefined if no tool has this name. */
  find(name: string): Tool | undefined {
    return this.byName.get(name);
  }

  /** Returns the error message for an unknown tool. */
  unknown(name: string): string {
    const nearest = nearestName(name, this.byName.keys());
    return `Unknown tool: ${name.slice(0, LONGEST_SHOWN)}; ${nearest === undefined ? 'tools/list lists the known ones' : `did you mean ${nearest}?`}`;
  }

  /** Rejects with a DomainError if the arguments are wrong or the tool fails. */
  async call(tool: Tool, given: JsonObject, held: HeldRequest): Promise<ToolAnswer> {
    refuseUnknown(tool, given);
    return tool.call(given, held);
  }
}
