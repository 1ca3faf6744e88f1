import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as realTurn } from 'node:timers/promises';

import { replaceRandom } from '../../src/common/random.js';
import { replaceScheduler } from '../../src/common/scheduler.js';
import { breaches, duringWork } from '../faults/invariants.js';
import { retentionBreaches } from '../faults/retention/retention-invariants.js';
import { tickBreaches, ticksDuringWork } from '../schedules/tick-invariants.js';
import { databaseOf, type Rows } from '../support/database.js';
import { Random } from '../support/random.js';
import { simulatedEngines } from './agents.js';
import { budgetBreaches, budgetsDuringWork } from './budget-invariants.js';
import { sendFor } from './client-operations.js';
import { Clients } from './clients.js';
import { copyAsAfterPowerLoss, isSame, type WalPosition, walPosition } from './disk.js';
import { flowBreaches } from './flow-invariants.js';
import { FullDisk } from './full-disk.js';
import { kept, workLeft } from './left.js';
import { moreBreaches } from './more-invariants.js';
import type { Operation } from './operations.js';
import type { Outcome } from './outcome.js';
import { People } from './people.js';
import { Readers } from './readers.js';
import { Receivers } from './receivers.js';
import { repeatBreaches, repeatsDuringWork } from './repeat-invariants.js';
import { SeededRandom } from './seeded-random.js';
import { type MachineTime, SeededScheduler, Trace } from './seeded-scheduler.js';
import { SimulatedService } from './simulated-service.js';
import type { Template } from './template.js';
import { TurnInvariants } from './turn-invariants.js';

const LOOK_EVERY_TURNS = 100;
const LONGEST_QUIET_MS = 60_000;
/** All work must have ended after this simulated time without faults. */
const LONGEST_END_MS = 3 * 3_600_000;
/** How often power is lost again while the service starts, and after how many of its turns at most. */
const LOST_AT_START = 0.3;
const LONGEST_START_TURNS = 12;
/** The longest attempt. One that lasts for two stalls would fail, so they are further apart. */
const TIMEOUT_MS = 60_000;
const HOUR_MS = 3_600_000;
/** How often a life continues until retention has deleted everything. */
const EXPIRES = 0.25;
const EXPIRY_HOURS = 40 * 24;
/** The cleanup of a small database takes about as many. */
const LONGEST_DELETION_TURNS = 15;

let made = 0;

/** One life of the service: what its clients do, its crashes and restarts, until all work has ended. */
export class Simulation {
  private readonly random: Random;
  private readonly trace = new Trace();
  private readonly machine: MachineTime = { elapsed: 0, set: 0 };
  private readonly root: string;
  private readonly clients: Clients;
  private readonly people: People;
  private readonly receivers: Receivers;
  private readonly readers: Readers;
  private scheduler!: SeededScheduler;
  private service!: SimulatedService;
  private invariants!: TurnInvariants;
  private turns = 0;
  private crashes = 0;
  private icyUntil = 0;
  private behindUntil = 0;
  private stallsFrom = 0;
  /** Positions of the log of executions after which the clock was set back. */
  private readonly stepsBack: number[] = [];
  private isExpired = false;
  private readonly disk = new FullDisk(this.machine);
  private readonly found: string[] = [];

  private constructor(
    seed: number,
    private readonly template: Template,
  ) {
    this.random = new Random(seed);
    made += 1;
    this.root = join(template.folder, `run-${made}`);
    const service = (): SimulatedService => this.service;
    const onUnexpected = (error: unknown): void =>
      void this.found.push(`a client got ${String((error as Error).stack)}`);
    this.clients = new Clients(this.random, service, onUnexpected);
    this.people = new People(this.random, service, onUnexpected);
    this.readers = new Readers(this.random, service, onUnexpected);
    this.receivers = new Receivers(this.random);
  }

  static async run(seed: number, operations: readonly Operation[], template: Template): Promise<Outcome> {
    const simulation = new Simulation(seed, template);
    const takeBack = replaceRandom(new SeededRandom(simulation.random));
    try {
      return await simulation.run(operations);
    } finally {
      // If its start fails, too: the suites of a worker share the scheduler.
      simulation.takeSchedulerBack();
      takeBack();
      rmSync(simulation.root, { recursive: true, force: true });
    }
  }

  private async run(operations: readonly Operation[]): Promise<Outcome> {
    mkdirSync(this.root);
    mkdirSync(this.folder);
    cpSync(join(this.template.folder, 'starling.db'), join(this.folder, 'starling.db'));
    await this.start(Infinity);
    try {
      for (const operation of operations) {
        await this.pass(operation.after);
        this.trace.add(operation.kind);
        await this.perform(operation);
        if (this.found.length > 0) break;
      }
      if (this.found.length === 0) await this.end();
      if (this.found.length === 0 && this.random.next() < EXPIRES) await this.expire();
    } finally {
      await this.drop();
    }
    return {
      breaches: this.found,
      trace: this.trace.digest(),
      turns: this.turns,
      crashes: this.crashes,
      simulatedMs: this.machine.elapsed,
    };
  }

  /** The folder of the database's files; a crash begins the next one. */
  private get folder(): string {
    return join(this.root, String(this.crashes));
  }

  /** Starts the service, again if power is lost after so many of its turns. */
  private async start(turns: number): Promise<void> {
    const last = this.trace.length + turns;
    this.scheduler = new SeededScheduler(this.random, this.machine, this.trace);
    this.takeSchedulerBack = replaceScheduler(this.scheduler);
    const service = await SimulatedService.start({
      folder: this.folder,
      catalog: this.template.catalog,
      settings: this.template.settings,
      engines: simulatedEngines({ random: this.random, isIcy: () => this.machine.elapsed < this.icyUntil }),
      receivers: this.receivers,
      scheduler: this.scheduler,
      onError: (line) => {
        if (!this.disk.excuses) this.found.push(`the service logged ${line}`);
      },
      isPowerLost: () => this.trace.length >= last,
    });
    if (!service) return this.startAgain();
    this.service = service;
    // Checkpoints are rare in a database this small.
    if (this.random.next() < 0.5) this.service.database.connection.exec('PRAGMA wal_autocheckpoint = 20');
    this.invariants = new TurnInvariants(this.folder, this.template.catalog, this.clients.flows, this.stepsBack);
    this.people.begin();
    this.readers.begin();
  }

  /** Power was lost during the start, between two commits. */
  private async startAgain(): Promise<void> {
    const { folder } = this;
    const position = walPosition(folder);
    this.scheduler.crash();
    this.takeSchedulerBack();
    await this.copyFiles(folder, [position, position]);
    return this.start(Infinity);
  }

  private takeSchedulerBack = (): void => undefined;

  /** Drops all objects: no turn of this process happens any more. */
  private async drop(): Promise<void> {
    this.scheduler.crash();
    this.takeSchedulerBack();
    this.invariants.close();
    await this.service.database.close();
  }

  private async perform(operation: Operation): Promise<void> {
    switch (operation.kind) {
      case 'ice':
        this.icyUntil = this.machine.elapsed + operation.ms;
        return;
      case 'crash':
        return this.crash(operation.turns, operation.inCommit);
      case 'suspend':
        if (await this.untilQuiet(LONGEST_QUIET_MS)) this.machine.elapsed += operation.hours * HOUR_MS;
        return;
      case 'stall':
        if (this.machine.elapsed < this.stallsFrom) return;
        this.machine.elapsed += operation.ms;
        this.stallsFrom = this.machine.elapsed + TIMEOUT_MS;
        return;
      case 'setClock':
        this.machine.set += operation.ms;
        if (operation.ms < 0) this.invariants.flow.clockSetBack();
        // Rates wait until the clock is where it was.
        this.behindUntil = Math.max(this.behindUntil, this.machine.elapsed) - Math.min(operation.ms, 0);
        return;
      case 'fullDisk':
        return this.disk.fill(this.service.database, operation.pages, operation.ms);
      default:
        return sendFor(operation, this.clients);
    }
  }

  private async pass(ms: number): Promise<void> {
    const until = this.machine.elapsed + ms;
    while (await this.turn(until));
  }

  /** Returns false if nothing is due until then. */
  private async turn(until = Infinity): Promise<boolean> {
    if (this.found.length > 0 || !this.scheduler.step(until)) return false;
    await realTurn();
    this.turns += 1;
    this.disk.makeRoomInTime(this.service.database);
    const isHindered = this.disk.excuses || this.clients.isPausing || this.machine.elapsed < this.behindUntil;
    this.found.push(...this.invariants.breaches(this.scheduler.calm, isHindered));
    return true;
  }

  private async crash(turns: number, inCommit: boolean): Promise<void> {
    const last = this.turns + turns - 1;
    while (this.turns < last) if (!(await this.turn())) return;
    let before = walPosition(this.folder);
    while (this.turns <= last || (inCommit && isSame(before, walPosition(this.folder)))) {
      before = walPosition(this.folder);
      if (!(await this.turn())) return;
    }
    const { folder } = this;
    const positions: [WalPosition, WalPosition] = [before, walPosition(folder)];
    this.scheduler.crash();
    await this.copyFiles(folder, positions, () => this.drop());
    this.disk.restart();
    await this.start(this.random.next() < LOST_AT_START ? this.random.between(1, LONGEST_START_TURNS) : Infinity);
    this.clients.crashed();
  }

  /** Begins the next folder with the files as they are after a loss of power, and checks them. */
  private async copyFiles(
    from: string,
    positions: [WalPosition, WalPosition],
    drop = (): Promise<void> => Promise.resolve(),
  ): Promise<void> {
    this.crashes += 1;
    this.trace.add(`crash ${copyAsAfterPowerLoss(from, this.folder, positions, this.random)}`);
    await drop();
    const database = await databaseOf(this.folder);
    this.found.push(...(await database.look((rows) => this.breachesNow(rows))));
    rmSync(from, { recursive: true });
  }

  private async breachesNow(rows: Rows): Promise<string[]> {
    if (this.isExpired) return retentionBreaches(rows);
    const { ledger, acceptedTopics, repeats, schedules } = this.clients;
    return [
      ...(await duringWork(rows, ledger)),
      ...(await ticksDuringWork(rows, schedules)),
      ...(await budgetsDuringWork(rows, acceptedTopics)),
      ...(await repeatsDuringWork(rows, repeats)),
      ...(await this.readers.breaches(rows)),
    ];
  }

  /** Returns false if work is left after `ms`. */
  private async untilQuiet(ms: number): Promise<boolean> {
    const end = this.machine.elapsed + ms;
    for (;;) {
      for (let index = 0; index < LOOK_EVERY_TURNS; index += 1) if (!(await this.turn(end))) break;
      if (this.found.length > 0 || this.machine.elapsed >= end) return false;
      if (this.clients.waiting === 0 && (await workLeft(this.folder)).length === 0) return true;
    }
  }

  private async end(): Promise<void> {
    this.icyUntil = 0;
    let isQuiet = await this.untilQuiet(LONGEST_END_MS);
    this.clients.retryAll();
    isQuiet &&= await this.untilQuiet(LONGEST_END_MS);
    const database = await databaseOf(this.folder);
    const broken = await breaches(database, this.clients.ledger);
    const { accepted, acceptedTopics, flows, repeats, schedules } = this.clients;
    broken.push(
      ...(await database.look(async (rows) => [
        ...(await moreBreaches(rows, { accepted, receivers: this.receivers })),
        ...(await tickBreaches(rows, schedules)),
        ...(await budgetBreaches(rows, acceptedTopics)),
        ...(await flowBreaches(rows, flows)),
        ...(await repeatBreaches(rows, repeats)),
        ...(await this.readers.breaches(rows)),
      ])),
    );
    if (!isQuiet)
      this.found.push(
        `work is left after three hours; ${this.clients.waiting} clients wait`,
        ...(await workLeft(this.folder)),
      );
    this.found.push(...broken);
    for (const query of [
      'select id, state, attempt from executions order by seq',
      'select id from artifacts order by seq',
    ])
      this.trace.add(JSON.stringify(await database.rows(query)));
  }

  /** Lets everything become too old, and power be lost while it is deleted. */
  private async expire(): Promise<void> {
    this.isExpired = true;
    this.machine.elapsed += EXPIRY_HOURS * HOUR_MS;
    const [before] = await kept(this.folder);
    // A life without any step keeps nothing.
    await this.untilKept(([first]) => first === undefined || first !== before, 1);
    await this.crash(this.random.between(0, LONGEST_DELETION_TURNS), this.random.next() < 0.5);
    // The next cleanup is due.
    this.machine.elapsed += HOUR_MS;
    await this.untilKept((kept) => kept.length === 0, LOOK_EVERY_TURNS);
    const database = await databaseOf(this.folder);
    this.found.push(...(await kept(this.folder)), ...(await database.look(retentionBreaches)));
  }

  /** Returns after an hour if it does not hold. Looks after so many turns. */
  private async untilKept(holds: (kept: string[]) => boolean, turns: number): Promise<void> {
    const end = this.machine.elapsed + HOUR_MS;
    while (this.found.length === 0 && this.machine.elapsed < end && !holds(await kept(this.folder)))
      for (let index = 0; index < turns; index += 1) await this.turn();
  }
}
