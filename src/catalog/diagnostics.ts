/** Where something stands in the configuration: keys and list positions from the top. */
export type Path = readonly (string | number)[];

/** One thing that is wrong or doubtful in the configuration. `path` reads like `agents.classifier.consumes[0].where`. */
export interface Diagnostic {
  path: string;
  /** From 1; absent where the thing does not come from the file. */
  line?: number;
  message: string;
}

export const describeDiagnostic = ({ path, line, message }: Diagnostic): string =>
  (line === undefined ? '' : `line ${line}: `) + (path === '' ? message : `${path}: ${message}`);

/** Everything that keeps a configuration from being served, all at once. */
export class CatalogError extends Error {
  constructor(
    readonly file: string,
    readonly diagnostics: readonly Diagnostic[],
    /** What of the `server:` section has the right form, so that its values can be judged in the same go. */
    readonly server?: Record<string, unknown>,
  ) {
    const count = diagnostics.length === 1 ? '1 error' : `${diagnostics.length} errors`;
    super(`${file} has ${count}:\n${diagnostics.map((diagnostic) => `  ${describeDiagnostic(diagnostic)}`).join('\n')}`);
    this.name = 'CatalogError';
  }
}

/** The path as people read it; a key that would read ambiguously is quoted. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`;
    if (/[\s."'[\]]|^$/.test(segment)) return `${text}[${JSON.stringify(segment)}]`;
    return text === '' ? segment : `${text}.${segment}`;
  }, '');
}

interface Located {
  path: Path;
  message: string;
  line?: number;
}

/** Collects what is found wrong, or doubtful, while a configuration is checked. */
export class Diagnostics {
  private readonly found: Located[] = [];

  /** `line` only where the path does not lead to it. */
  add(path: Path, message: string, line?: number): void {
    this.found.push({ path, message, line });
  }

  get empty(): boolean {
    return this.found.length === 0;
  }

  has(path: Path): boolean {
    return this.found.some((diagnostic) => diagnostic.path.length === path.length && leadsTo(path, diagnostic.path));
  }

  /** Whether anything at or below `path` is known to be wrong. */
  touches(path: Path): boolean {
    return this.found.some((diagnostic) => leadsTo(path, diagnostic.path));
  }

  /** In the order of the file; what does not come from it stands last. */
  toDiagnostics(lineOf: (path: Path) => number | undefined): Diagnostic[] {
    return this.found
      .map(({ path, message, line }) => ({ path: formatPath(path), line: line ?? lineOf(path), message }))
      .sort((a, b) => (a.line ?? Number.MAX_SAFE_INTEGER) - (b.line ?? Number.MAX_SAFE_INTEGER));
  }
}

/** What keeps a configuration from being served, and what is only doubtful. */
export class Report {
  readonly errors = new Diagnostics();
  readonly warnings = new Diagnostics();
}

const leadsTo = (start: Path, path: Path): boolean => start.every((segment, position) => path[position] === segment);
