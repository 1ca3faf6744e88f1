/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The process's environment; everything else gets it handed in. */
export const readEnvironment = (): Environment => ({ ...process.env });
