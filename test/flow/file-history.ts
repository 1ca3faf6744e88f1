import type { Logged } from './execution-log.js';

/** Which configurations live processes had at each time, by the log. */
export class FileHistory<File> {
  /** The configurations of the processes that live. If none does, those of the last ones. */
  current: readonly File[];
  private readonly digests: string[] = [];
  /** Each process that has registered → its configuration. */
  private readonly ofProcess = new Map<string, File>();
  private readonly live = new Set<string>();
  /** The configuration → when its last process has left. */
  private readonly leftAt = new Map<File, number>();

  /** `files`: each has another digest. In the order in which the first process with each registers. */
  constructor(private readonly files: readonly File[]) {
    this.current = files.slice(0, 1);
  }

  /** The entry says that a process has registered or left. */
  read({ at, process, configuration }: Logged): void {
    if (configuration === null) this.live.delete(process!);
    else {
      if (!this.digests.includes(configuration)) this.digests.push(configuration);
      this.ofProcess.set(process!, this.files[this.digests.indexOf(configuration)]!);
      this.live.add(process!);
    }
    const left = this.current;
    if (this.live.size > 0) this.current = [...new Set([...this.live].map((id) => this.ofProcess.get(id)!))];
    for (const file of left) if (!this.current.includes(file)) this.leftAt.set(file, at);
    for (const file of this.current) this.leftAt.delete(file);
  }

  /** Returns the configuration of a process. If that is not known, those that any process has. */
  of(process: string | null): readonly File[] {
    const file = process === null ? undefined : this.ofProcess.get(process);
    return file === undefined ? this.current : [file];
  }

  /** Returns those that some process has had since then. */
  since(at: number): readonly File[] {
    return [...this.current, ...[...this.leftAt].flatMap(([file, leftAt]) => (leftAt >= at ? [file] : []))];
  }
}
