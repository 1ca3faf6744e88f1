import { join } from 'node:path';

import { Service } from '../support/service.js';
import { Folder } from './run-program.js';

/** The services of one test file, all with the same configuration. */
export class Services {
  readonly folder = new Folder();
  readonly configFile: string;
  private readonly running: Service[] = [];
  private databases = 0;

  constructor(config: string) {
    this.configFile = this.folder.write('starling.yaml', config);
  }

  newDatabase(): string {
    return `sqlite:${join(this.folder.path, `${(this.databases += 1)}.db`)}`;
  }

  /** Starts one that runs until `killAll`. */
  async start(args: string[] = [], database = this.newDatabase()): Promise<Service> {
    const service = await Service.start(['--config', this.configFile, '--database-url', database, ...args]);
    this.running.push(service);
    return service;
  }

  async killAll(): Promise<void> {
    await Promise.all(this.running.splice(0).map((service) => service.kill()));
  }
}

export const messagesOf = (service: Service): string[] =>
  service.log.filter((line) => line.startsWith('{')).map((line) => (JSON.parse(line) as { msg: string }).msg);

export const statusOf = async (service: Service, path: string): Promise<number> =>
  (await fetch(service.url + path)).status;
