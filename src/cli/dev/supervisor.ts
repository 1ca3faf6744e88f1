import { relative } from 'node:path';

import { Child } from '../watch/child.js';
import type { ServeOrder } from '../watch/orders.js';
import { WatchedConfiguration } from '../watch/watched-configuration.js';
import { DEVELOPMENT_DEFAULTS } from './development-defaults.js';

/**
 * Serves a configuration in a separate process, and replaces it when the configuration file or a module changes. Each change is
 * checked in another process first, so that a broken one does not touch the process that serves. What waits is in the database, where the
 * next process finds it.
 */
export class Supervisor {
  private readonly configuration: WatchedConfiguration;
  private readonly stopping = Promise.withResolvers<null>();
  private isStopping = false;
  private service: Child | null = null;
  /** The one that a newer one replaces. */
  private replaced: Child | null = null;
  /** The configuration file's text with which the service last started. */
  private lastGood: string | null = null;

  constructor(private readonly order: Omit<ServeOrder, 'does' | 'text'>) {
    this.configuration = new WatchedConfiguration({ ...order, defaults: DEVELOPMENT_DEFAULTS, format: null });
  }

  /** Resolves when it was stopped and no process is left. */
  async run(): Promise<void> {
    await this.load();
    while (!this.isStopping) {
      const changed = await Promise.race([this.configuration.changed(), this.stopping.promise]);
      if (changed === null) break;
      say(`${changed.map((file) => relative('.', file)).join(', ')} changed`);
      await this.load();
    }
    await this.service?.ended;
  }

  /** The first signal stops the service gracefully, a second one ends it immediately. */
  stop(signal: NodeJS.Signals): void {
    this.configuration.stop();
    if (this.isStopping) return this.service?.kill(signal);
    this.isStopping = true;
    this.stopping.resolve(null);
    if (this.service !== this.replaced) void this.service?.stop(signal);
  }

  private async load(): Promise<void> {
    const text = await this.configuration.check();
    if (this.isStopping) return;
    if (text === null)
      return say(`${this.service ? 'the last good configuration continues; ' : ''}waiting for a change`);
    this.replaced = this.service;
    await this.service?.stop('SIGTERM');
    const isStarted = await this.start(text);
    if (isStarted) this.lastGood = text;
    else if (this.lastGood !== null && this.lastGood !== text) await this.goBack(this.lastGood);
    else if (!this.isStopping) say('waiting for a change');
  }

  /** A setting can prevent a start though the check found nothing, such as a port that is in use. */
  private async goBack(text: string): Promise<void> {
    if (this.isStopping) return;
    say('going back to the last good configuration file, with the modules as they are now');
    if (!(await this.start(text)) && !this.isStopping) say('waiting for a change');
  }

  /** Resolves with whether it serves. */
  private async start(text: string): Promise<boolean> {
    if (this.isStopping) return false;
    const started = Promise.withResolvers<boolean>();
    const service = new Child({ ...this.order, does: 'serve', text }, () => started.resolve(true));
    this.service = service;
    void service.ended.then((end) => {
      this.service = null;
      started.resolve(false);
      if (service !== this.replaced && !this.isStopping)
        say(`the service has ended (${end}); it starts again after a change`);
    });
    return started.promise;
  }
}

const say = (text: string): void => console.error(`starling dev: ${text}`);
