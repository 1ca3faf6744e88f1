import { execFileSync } from 'node:child_process';

const ip = (...args: string[]): void => void execFileSync('ip', args, { stdio: 'pipe' });

/** A pair of interfaces: this end's address, and the other's in the namespace. */
interface Link {
  here: string;
  there: string;
}

/** A separate network for a process, with one link to the database and one to its clients. */
export class Namespace {
  readonly database: Link;
  readonly clients: Link;

  private constructor(private readonly name: string) {
    this.database = this.link('d', 1);
    this.clients = this.link('c', 5);
  }

  /** Returns null if this user may not create one, or `ip` is not installed. */
  static make(): Namespace | null {
    const name = `starling-${process.pid}`;
    try {
      ip('netns', 'add', name);
    } catch {
      return null;
    }
    try {
      return new Namespace(name);
    } catch {
      ip('netns', 'del', name);
      return null;
    }
  }

  /** Returns the command that runs another one in the namespace. */
  get within(): string[] {
    return ['ip', 'netns', 'exec', this.name];
  }

  /** Drops all packets to the database, without notifying either side. */
  cut(): void {
    ip('link', 'set', this.interface('d'), 'down');
  }

  mend(): void {
    ip('link', 'set', this.interface('d'), 'up');
  }

  remove(): void {
    ip('netns', 'del', this.name);
  }

  private interface(kind: string): string {
    return `st${kind}${process.pid}`;
  }

  private link(kind: string, first: number): Link {
    const [here, there] = [this.interface(kind), `${this.interface(kind)}x`];
    const network = `10.${200 + (process.pid % 50)}.${process.pid % 250}`;
    const link = { here: `${network}.${first}`, there: `${network}.${first + 1}` };
    ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', this.name);
    ip('addr', 'add', `${link.here}/30`, 'dev', here);
    ip('link', 'set', here, 'up');
    ip('-n', this.name, 'addr', 'add', `${link.there}/30`, 'dev', there);
    ip('-n', this.name, 'link', 'set', there, 'up');
    return link;
  }
}
