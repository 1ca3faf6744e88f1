import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { Service } from '../support/service.js';

/** The built program on one database, in several processes that a test kills: one on SQLite, three on Postgres. */
export class Programs {
  static readonly SIZE = TEST_DATABASE === 'postgres' ? 3 : 1;
  database!: TestDatabase;
  /** By their places. A killed one stays here until another one starts in its place. */
  protected readonly services: Service[] = [];
  private readonly folder = new ConfigurationFolder();
  private args: string[] = [];

  /** `environment`: variables of a process that starts now. */
  constructor(private readonly environment: () => Record<string, string> = () => ({})) {}

  /** Writes the configuration, and the files beside it. */
  async prepare(config: string, files: Record<string, string>, lease: string): Promise<void> {
    for (const [name, text] of Object.entries(files)) this.folder.write(name, text);
    this.database = await databaseOf(this.folder.path);
    const file = this.change(config);
    this.args = ['--config', file, '--database-url', this.database.url, '--lease', lease, '--log-level', 'warn'];
  }

  /** Writes the configuration of the processes that start from now on. Returns its path. */
  change(config: string): string {
    return this.folder.write('starling.yaml', config);
  }

  async begin(place: number): Promise<void> {
    this.services[place] = await Service.start(this.args, this.environment());
  }

  /** Returns the exit code. */
  kill(place: number, signal: NodeJS.Signals = 'SIGKILL'): Promise<number | null> {
    return this.services[place]!.kill(signal);
  }

  url(place: number): string {
    return this.services[place]!.url;
  }

  async remove(): Promise<void> {
    await Promise.all(this.services.map((service) => service.kill()));
    await this.database.drop();
    this.folder.remove();
  }
}
