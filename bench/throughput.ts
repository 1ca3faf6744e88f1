import type { LoadGenerator, Server } from './children.ts';
import type { LoadRequest, Measured } from './load.ts';
import { artifactsById, CHAIN, CONNECTIONS, ECHO, LIST, PUBLISH, REPLAY, SYNC_PUBLISH } from './requests.ts';
import { milliseconds, perSecond, type Row } from './row.ts';
import { median } from './statistics.ts';

const RUNS = 5;
const WARM_SECONDS = 3;
const RUN_SECONDS = 2;
const CHAINS_IN_RUN = 300;

interface Work {
  work: string;
  server: Server;
  requests: LoadRequest[];
  atLeast: number;
  aim: number;
}

/**
 * Measures requests per second of the service and of the echo app, in turn, so that a slower moment affects
 * both.
 */
export class Throughput {
  private readonly generator: LoadGenerator;
  private readonly echo: Server;

  constructor(generator: LoadGenerator, echo: Server) {
    this.generator = generator;
    this.echo = echo;
  }

  /** The database of `fresh` begins empty, that of `filled` has a history. */
  async rows(fresh: Server, filled: Server): Promise<Row[]> {
    return [
      await this.againstEcho({
        work: 'async publish, fsynced',
        server: fresh,
        requests: PUBLISH,
        atLeast: 0.35,
        aim: 0.5,
      }),
      await this.againstEcho({ work: 'idempotent replay', server: fresh, requests: REPLAY, atLeast: 0.55, aim: 0.75 }),
      await this.againstEcho({
        work: 'artifact by id',
        server: filled,
        requests: await artifactsById(filled.url),
        atLeast: 0.6,
        aim: 0.8,
      }),
      await this.againstEcho({ work: 'list of 50', server: filled, requests: LIST, atLeast: 0.2, aim: 0.35 }),
      await this.againstEcho({
        work: 'sync publish through one expression agent',
        server: fresh,
        requests: SYNC_PUBLISH,
        atLeast: 0.15,
        aim: 0.3,
      }),
      await this.chain(fresh, { atLeast: 6, aim: 3 }),
    ];
  }

  private async againstEcho({ work, server, requests, atLeast, aim }: Work): Promise<Row> {
    await this.run(this.echo, ECHO, WARM_SECONDS);
    await this.run(server, requests, WARM_SECONDS);
    const runs: { here: Measured; echo: Measured }[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      runs.push({
        echo: await this.run(this.echo, ECHO, RUN_SECONDS),
        here: await this.run(server, requests, RUN_SECONDS),
      });
    }
    const here = median(runs.map((run) => run.here.requestsPerSecond));
    const echo = median(runs.map((run) => run.echo.requestsPerSecond));
    return {
      work,
      value: here / echo,
      atLeast,
      aim,
      better: 'higher',
      unit: '',
      measured: perSecond(here),
      baseline: `echo ${perSecond(echo)}`,
    };
  }

  async chain(server: Server, targets: Pick<Row, 'atLeast' | 'aim'>): Promise<Row> {
    await this.callAlone(this.echo, ECHO);
    await this.callAlone(server, CHAIN);
    const runs: { here: number; echo: number }[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      runs.push({ echo: await this.callAlone(this.echo, ECHO), here: await this.callAlone(server, CHAIN) });
    }
    const value = median(runs.map(({ here }) => here));
    const echo = median(runs.map((run) => run.echo));
    return {
      work: 'three agents in a chain, one caller: p50',
      value,
      ...targets,
      better: 'lower',
      unit: ' ms',
      measured: `${RUNS} x ${CHAINS_IN_RUN} calls`,
      baseline: `echo ${milliseconds(echo)}`,
    };
  }

  private run(server: Server, requests: LoadRequest[], seconds: number): Promise<Measured> {
    return this.generator.run({ url: server.url, requests, connections: CONNECTIONS, until: { seconds } });
  }

  /** Returns the p50 of one caller that waits for each answer. */
  private async callAlone(server: Server, requests: LoadRequest[]): Promise<number> {
    const { p50 } = await this.generator.run({
      url: server.url,
      requests,
      connections: 1,
      until: { requests: CHAINS_IN_RUN },
    });
    return p50;
  }
}
