/** An open database, before anybody works on it. */
export abstract class Database {
  /** For people: where it is, without user and password. */
  abstract readonly location: string;

  /** Closed already, it does nothing; in the midst of closing, it ends with that. */
  abstract close(): Promise<void>;
}
