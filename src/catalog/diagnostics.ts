/** A position in the configuration: keys and list indexes from the top. */
export type Path = readonly (string | number)[];

/** A problem or warning in the configuration. `path` has the form `agents.classifier.consumes[0].where`. */
export interface Diagnostic {
  path: string;
  /** Line and column start at 1. Absent if the value is not in the file. */
  line?: number;
  column?: number;
  message: string;
}

/** Finds the place of a value in the configuration file. */
export type PlaceOf = (path: Path, offset?: number) => Place | undefined;

export const describeDiagnostic = ({ path, line, column, message }: Diagnostic): string =>
  (line === undefined ? '' : `line ${line}, column ${column}: `) + (path === '' ? message : `${path}: ${message}`);

/** The errors in a configuration file: a title, and a line for each. */
export function describeDiagnostics(file: string, diagnostics: readonly Diagnostic[]): string {
  const count = diagnostics.length === 1 ? '1 error' : `${diagnostics.length} errors`;
  return `${file} has ${count}:\n${diagnostics.map((diagnostic) => `  ${describeDiagnostic(diagnostic)}`).join('\n')}`;
}

/** A position in the file. Line and column start at 1. */
export interface Place {
  line: number;
  column: number;
}

/** The input of further checks of the file. */
export interface ConfigurationSource {
  /** The parts of the `server:` section with a valid form, so that their values can be checked in the same run. */
  server: Record<string, unknown>;
  placeOf: PlaceOf;
}

/** Carries all problems that prevent a configuration from being served. */
export class CatalogError extends Error {
  constructor(
    readonly file: string,
    readonly diagnostics: readonly Diagnostic[],
    /** Absent if the file is not readable. */
    readonly source?: ConfigurationSource,
  ) {
    super(describeDiagnostics(file, diagnostics));
    this.name = 'CatalogError';
  }
}

/** Formats a path for people. Ambiguous keys are quoted. */
export function formatPath(path: Path): string {
  return path.reduce<string>((text, segment) => {
    if (typeof segment === 'number') return `${text}[${segment}]`;
    if (/[\s."'[\]]|^$/.test(segment)) return `${text}[${JSON.stringify(segment)}]`;
    return text === '' ? segment : `${text}.${segment}`;
  }, '');
}

/** The place of a problem that is not where its path leads: elsewhere in the file, or inside the text at the path. */
export type Within = Place | { offset: number };

interface Located {
  path: Path;
  message: string;
  within?: Within;
}

/** Collects problems or warnings while a configuration is checked. */
export class Diagnostics {
  private readonly found: Located[] = [];

  add(path: Path, message: string, within?: Within): void {
    this.found.push({ path, message, ...(within && { within }) });
  }

  get empty(): boolean {
    return this.found.length === 0;
  }

  has(path: Path): boolean {
    return this.found.some((diagnostic) => diagnostic.path.length === path.length && leadsTo(path, diagnostic.path));
  }

  /** True if there is a problem at or below `path`. */
  touches(path: Path): boolean {
    return this.found.some((diagnostic) => leadsTo(path, diagnostic.path));
  }

  /** Sorted by position. Problems that are not in the file come last. */
  toDiagnostics(placeOf: PlaceOf): Diagnostic[] {
    return inOrder(
      this.found.map(({ path, message, within }) => {
        const place = within && 'line' in within ? within : placeOf(path, within?.offset);
        return { path: formatPath(path), ...place, message };
      }),
    );
  }
}

/** Sorts by position. What is not in the file comes last. */
export const inOrder = (diagnostics: readonly Diagnostic[]): Diagnostic[] =>
  diagnostics.toSorted((a, b) => order(a.line, b.line) || order(a.column, b.column));

const order = (one = Number.MAX_SAFE_INTEGER, other = Number.MAX_SAFE_INTEGER): number => one - other;

/** The problems that prevent a configuration from being served, and the warnings. */
export class Report {
  readonly errors = new Diagnostics();
  readonly warnings = new Diagnostics();
}

const leadsTo = (start: Path, path: Path): boolean => start.every((segment, position) => path[position] === segment);
