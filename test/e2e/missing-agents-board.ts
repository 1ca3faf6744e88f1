import type { TestAppOptions } from '../support/app.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { ManualClock } from '../support/manual-clock.js';
import { QUEUED } from '../support/queued-agents.js';
import { GATE } from './batch-board.js';
import { Board, type Status } from './board.js';

const UNLUCKY = `export default async (inputs, { attempt }) => { if (attempt === 1) throw new Error('not yet'); return { attempt }; };`;

const AGENTS = {
  price: `{ consumes: [{ types: [Order] }], publishes: [{ type: Price }], engine: { kind: function, module: ./echo.js } }`,
  gate: `{ consumes: [{ types: [Gated] }], publishes: [{ type: Passed }], engine: { kind: function, module: ./gate.js }, concurrency: 2, timeout: 24h }`,
  unlucky: `{ consumes: [{ types: [Doomed] }], publishes: [{ type: Done }], retry: { attempts: 2, delay: 5m }, engine: { kind: function, module: ./unlucky.js } }`,
  pairer: `{ consumes: [{ types: [Left, Right], join: { within: 10m } }], publishes: [{ type: Pair }], engine: { kind: expression, expression: '{"ok": true}' } }`,
  judge: `{ consumes: [{ types: [Claim, Proof], where: payload.Claim.n == payload.Proof.n }], publishes: [{ type: Judged }], engine: { kind: expression, expression: '{"ok": true}' } }`,
  window: `{ consumes: [{ types: [Event], batch: { size: 10, timeout: 10m } }], publishes: [{ type: Digest }], engine: { kind: expression, expression: '{"size": size(payload)}' } }`,
  approver: `{ consumes: [{ types: [Request] }], publishes: [{ type: Approval }], engine: { kind: external, due: { after: 1h, then: fail } } }`,
  stayer: `{ consumes: [{ types: [Message] }], publishes: [{ type: Echo }], engine: { kind: function, module: ./echo.js } }`,
};

export type AgentName = keyof typeof AGENTS;

export const ALL = Object.keys(AGENTS) as AgentName[];

export interface MissingAgentsStatus extends Status {
  waiting_for_agents?: string[];
}

/**
 * An app that is started several times on one database, each time with some of the agents above. The clock stands still
 * unless a test moves it.
 */
export class MissingAgentsBoard {
  readonly clock = new ManualClock();
  private readonly folder = new ConfigurationFolder();
  board!: Board;

  constructor(private readonly options: TestAppOptions = {}) {}

  start(agents: readonly AgentName[], options: TestAppOptions = {}): Promise<Board> {
    return this.startWith(`agents:\n${agents.map((name) => `  ${name}: ${AGENTS[name]}`).join('\n')}\n`, options);
  }

  async startWith(config: string, options: TestAppOptions = {}): Promise<Board> {
    const { settings, ...others } = { ...this.options, ...options };
    this.board = await Board.start(config, {
      clock: this.clock,
      folder: this.folder.path,
      files: { ...QUEUED, 'gate.js': GATE, 'unlucky.js': UNLUCKY },
      settings: { shutdownGraceMs: 0, leaseMs: 3_600_000, ...this.options.settings, ...settings },
      ...others,
    });
    return this.board;
  }

  async restart(agents: readonly AgentName[], options: TestAppOptions = {}): Promise<Board> {
    await this.board.close();
    return this.start(agents, options);
  }

  async status(correlation: string): Promise<MissingAgentsStatus> {
    return (await this.board.status(correlation)) as MissingAgentsStatus;
  }

  async remove(): Promise<void> {
    await this.board.close();
    await this.board.app.database.drop();
    this.folder.remove();
  }
}
