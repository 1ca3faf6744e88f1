/** An open database, before anybody works on it. */
export abstract class Database {
  /** For people: where it is, without user and password. */
  abstract readonly location: string;

  /** `warnings`: what is doubtful about where it is, a line each, to be logged. */
  constructor(readonly warnings: readonly string[] = []) {}

  /** Closed already, it does nothing; in the midst of closing, it ends with that. */
  abstract close(): Promise<void>;
}
