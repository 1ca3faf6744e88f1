import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { builtProgram } from '../support/built-program.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { Service } from '../support/service.js';
import { Inspector } from './inspector.js';

const CONFIG = join(import.meta.dirname, 'desk/starling.yaml');

const MIB = 2 ** 20;

/** The memory limit of the container in deploy/kubernetes. */
const POD_MIB = 1_024;

/** V8's limit for old objects on a machine with that much memory: half of it. */
const HEAP_MIB = POD_MIB / 2;

const LOOK_EVERY_MS = 20;

/**
 * The program as it runs in a pod of 1 GiB: started through its shebang, so that its flags apply, with the heap that V8
 * would choose there. It is killed when it takes more memory than the pod has, as the kernel would do.
 */
export class Pod {
  /** The preparations that attacks have made in its database. */
  readonly prepared = new Set<unknown>();
  private peakMib = 0;
  /** Resident MiB every 20 ms, the newest last. */
  private readonly resident: number[] = [];
  private readonly looking: NodeJS.Timeout;

  private constructor(
    private readonly service: Service,
    private readonly inspector: Inspector,
    readonly database: TestDatabase,
    private readonly folder: string,
    private readonly options: readonly string[],
  ) {
    this.looking = setInterval(() => this.look(), LOOK_EVERY_MS).unref();
  }

  /** `options` are flags of the program. A pod that is started on the folder of an earlier one has its database. */
  static async start(options: string[] = [], folder?: string): Promise<Pod> {
    const home = folder ?? (await mkdtemp(join(tmpdir(), 'starling-attack-')));
    const database = await databaseOf(home);
    const command = [
      await builtProgram(),
      'serve',
      '--port',
      '0',
      '--config',
      CONFIG,
      '--database-url',
      database.url,
      '--log-level',
      'warn',
      ...options,
    ];
    const service = await Service.run(command, {
      PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
      NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB} --inspect=127.0.0.1:0`,
    });
    return new Pod(service, await Inspector.of(service.log), database, home, options);
  }

  get url(): string {
    return this.service.url;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  get pid(): number {
    return this.service.process.pid!;
  }

  get isAlive(): boolean {
    return !this.service.hasEnded;
  }

  /** Returns the most memory that the pod has used so far. */
  get mostMib(): number {
    return this.peakMib;
  }

  /** Returns the output so far, for failure messages. */
  get lastOutput(): string {
    return this.service.log.slice(-40).join('\n');
  }

  /** Returns the MiB of live objects and buffers after a collection. */
  memory(): Promise<number> {
    return this.inspector.liveMib();
  }

  /** The resident memory in the last two seconds, in MiB. */
  get lastResident(): string {
    return this.resident.filter((_, index) => index % 5 === 0).join(' ');
  }

  /** Its memory in one line, in MiB. */
  async memoryLine(): Promise<string> {
    const usage = Object.entries(await this.inspector.usage());
    return usage.map(([name, mib]) => `${name} ${Math.round(mib)}`).join(', ');
  }

  /** Returns the MiB of the database files. */
  async storedMib(): Promise<number> {
    const [size] = await this.database.rows<{ bytes: number }>(
      TEST_DATABASE === 'postgres'
        ? 'select pg_database_size(current_database())::float as bytes'
        : 'select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()',
    );
    return size!.bytes / MIB;
  }

  /** Kills the pod and starts it again on the same database. */
  async restarted(): Promise<Pod> {
    await this.end('SIGKILL');
    const pod = await Pod.start([...this.options], this.folder);
    for (const preparation of this.prepared) pod.prepared.add(preparation);
    return pod;
  }

  async close(): Promise<void> {
    await this.end('SIGKILL');
    await this.database.drop();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Resolves with the exit code. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    clearInterval(this.looking);
    this.inspector.close();
    return this.service.kill(signal);
  }

  private look(): void {
    const mib = residentMib(this.pid);
    this.peakMib = Math.max(this.peakMib, mib);
    this.resident.push(Math.round(mib));
    if (this.resident.length > 100) this.resident.shift();
    if (mib > POD_MIB && this.isAlive) this.service.process.kill('SIGKILL');
  }
}

/** Returns 0 if the process has exited, or if there is no /proc. Then only the heap limit applies. */
function residentMib(pid: number): number {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return (Number(kib ?? 0) * 1_024) / MIB;
  } catch {
    return 0;
  }
}
