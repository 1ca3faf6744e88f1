import { WORKFLOW_ERROR } from '../catalog/definitions.js';
import type { Server } from '../cli/client/server.js';
import type { JsonObject } from '../common/json.js';
import { listed } from '../common/names-in-messages.js';
import type { AgentArtifact } from '../engines/engine.js';

/** An artifact whose payload has the type that the test expects. */
export type PublishedArtifact<Payload = JsonObject> = Omit<AgentArtifact, 'payload'> & { payload: Payload };

/** The payload of a WorkflowError. */
export interface WorkflowErrorPayload {
  failed_agent: string;
  error_type: string;
  error_message: string;
  attempts: number;
}

/** The things that a run waits for, with the field names of `GET /api/v1/correlations/{correlation_id}/waiting`. */
export interface RunWait {
  /** For example `retry`, `unclaimed`, `held`, `join` or `release`. */
  kind: string;
  agent?: string;
  /** Only for external work. */
  assignee?: string | null;
  /** UTC ISO 8601: when it ends without anything else happening. */
  until: string | null;
}

/** Everything that followed from one publish. It shows what had happened when the last call of the test kit returned. */
export interface TestRun {
  readonly correlationId: string;
  /** `active` while something waits: for a person, or for a time. */
  readonly state: 'active' | 'completed' | 'failed' | 'cancelled';
  /** The artifacts that agents have published, in the order of publishing. */
  readonly artifacts: PublishedArtifact[];
  /** The final failures of agents. */
  readonly errors: WorkflowErrorPayload[];
  /** The things that the run waits for; at most the first 50. */
  readonly waiting: RunWait[];
  /** The first artifact of this type. Throws an Error that says what was published if there is none. */
  first<Payload = JsonObject>(type: string): PublishedArtifact<Payload>;
  /** All artifacts of this type, in the order of publishing. */
  all<Payload = JsonObject>(type: string): PublishedArtifact<Payload>[];
}

const PAGE = 500;
/** The producer of what clients publish. */
const CLIENT = 'external';

/** Reads a correlation over HTTP. */
export class ReadRun implements TestRun {
  state: TestRun['state'] = 'active';
  artifacts: PublishedArtifact[] = [];
  errors: WorkflowErrorPayload[] = [];
  waiting: RunWait[] = [];

  constructor(
    private readonly server: Server,
    readonly correlationId: string,
  ) {}

  all<Payload = JsonObject>(type: string): PublishedArtifact<Payload>[] {
    return this.artifacts.filter((artifact) => artifact.type === type) as PublishedArtifact<Payload>[];
  }

  first<Payload = JsonObject>(type: string): PublishedArtifact<Payload> {
    const [artifact] = this.all<Payload>(type);
    if (artifact) return artifact;
    const types = [...new Set(this.artifacts.map((published) => published.type))];
    const published =
      types.length === 0 ? `nothing was published` : `no ${type} was published, only ${listed(types, 'and')}`;
    const errors = this.errors.map(({ failed_agent, error_message }) => `${failed_agent} failed: ${error_message}`);
    throw new Error([published, ...errors, ...this.waiting.map(describeWait)].join('; '));
  }

  async refresh(): Promise<void> {
    const id = encodeURIComponent(this.correlationId);
    const { state } = await this.server.get<{ state: TestRun['state'] }>(`/api/v1/correlations/${id}/status`);
    const { items } = await this.server.get<{ items: RunWait[] }>(`/api/v1/correlations/${id}/waiting`);
    const produced = (await this.read(id)).filter(({ produced_by }) => produced_by !== CLIENT);
    this.state = state;
    this.waiting = items;
    this.artifacts = produced.filter(({ type }) => type !== WORKFLOW_ERROR);
    this.errors = produced
      .filter(({ type }) => type === WORKFLOW_ERROR)
      .map(({ payload }) => payload as unknown as WorkflowErrorPayload);
  }

  private async read(id: string): Promise<PublishedArtifact[]> {
    const artifacts: PublishedArtifact[] = [];
    for (;;) {
      const last = artifacts.at(-1);
      const { items } = await this.server.get<{ items: PublishedArtifact[] }>(
        `/api/v1/artifacts?correlation_id=${id}&limit=${PAGE}${last ? `&after=${last.id}` : ''}`,
      );
      artifacts.push(...items);
      if (items.length < PAGE) return artifacts;
    }
  }
}

/** For example `approver: unclaimed by anna`, `clerk: join`, or `quoter: retry until 2026-11-20T10:00:01.000Z`. */
const describeWait = ({ kind, agent, assignee, until }: RunWait): string =>
  `${agent === undefined ? '' : `${agent}: `}${kind}${assignee ? ` by ${assignee}` : ''}${until === null ? '' : ` until ${until}`}`;
