import type { Catalog } from '../catalog/catalog.js';
import type { Server } from '../cli/client/server.js';
import type { JsonObject } from '../common/json.js';
import { asError } from '../engines/agent-code.js';
import type { AgentArtifact } from '../engines/engine.js';
import { isExternal } from '../engines/external/external-work.js';
import type { Answers } from './agent-answers.js';
import type { OpenWork } from './open-work.js';

/** An execution of an external agent that a test holds, with the field names of the wire. */
export interface ClaimedWork {
  execution_id: string;
  agent: string;
  attempt: number;
  inputs: AgentArtifact[];
  assignee: string | null;
  /** UTC ISO 8601. Null if it has no due time. */
  due_at: string | null;
  lease_token: string;
  lease_until: string;
}

/** Claims, completes and fails executions of external agents, as workers and people do. */
export class ExternalWork {
  constructor(
    private readonly server: Server,
    private readonly openWork: OpenWork,
    private readonly answers: Answers,
    private readonly catalog: Catalog,
  ) {}

  /** Without an assignee, it takes the oldest execution, no matter to whom it is assigned. */
  async claim(agent: string, assignee: string | undefined): Promise<ClaimedWork> {
    if (!isExternal(this.catalog.agent(agent)))
      throw new Error(`the agent ${agent} is not external, so it has no claims`);
    const work = assignee === undefined ? await this.claimOldest(agent) : await this.claimFor(agent, assignee);
    if (!work)
      throw new Error(
        `no execution of ${agent}${assignee === undefined ? '' : ` for ${assignee}`} waits to be claimed`,
      );
    return work;
  }

  async complete({ execution_id: id, lease_token }: ClaimedWork, output: unknown): Promise<void> {
    await this.server.post(`/api/v1/executions/${id}/complete`, { lease_token, output } as JsonObject);
  }

  async fail({ execution_id: id, lease_token }: ClaimedWork, failure: JsonObject): Promise<void> {
    await this.server.post(`/api/v1/executions/${id}/fail`, { lease_token, ...failure });
  }

  /** Completes the waiting executions of external agents that have an answer. Returns whether it found any. */
  async answer(): Promise<boolean> {
    const agents = this.catalog.agents.filter((agent) => isExternal(agent) && this.answers.has(agent.name));
    let answered = false;
    for (const { name } of agents) {
      for (const id of await this.openWork.unclaimed(name)) {
        answered = true;
        await this.answerOne(await this.claimOne(id));
      }
    }
    return answered;
  }

  private async answerOne(work: ClaimedWork): Promise<void> {
    let output: unknown;
    try {
      output = await this.answers.of(work.agent, work.inputs);
    } catch (thrown) {
      await this.fail(work, { error_message: asError(thrown).message });
      return;
    }
    await this.complete(work, output);
  }

  private async claimOldest(agent: string): Promise<ClaimedWork | undefined> {
    const [id] = await this.openWork.unclaimed(agent);
    return id === undefined ? undefined : this.claimOne(id);
  }

  private async claimOne(id: string): Promise<ClaimedWork> {
    return (await this.server.post<ClaimedWork>(`/api/v1/executions/${id}/claim`, {})).body;
  }

  private async claimFor(agent: string, assignee: string): Promise<ClaimedWork | undefined> {
    const request = { agents: [agent], assignee, claimed_by: assignee };
    const { body } = await this.server.post<{ executions: ClaimedWork[] }>('/api/v1/executions/claim', request);
    return body.executions[0];
  }
}
