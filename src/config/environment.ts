/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The only read of the process's environment. All other code receives it as a parameter. */
export const readEnvironment = (): Environment => ({ ...process.env });

/** The number of libuv threads, from Node's own variable, parsed as libuv parses it. */
export function threadPoolSize(): number {
  const given = process.env.UV_THREADPOOL_SIZE;
  return given === undefined ? 4 : Math.min(Math.max(Number.parseInt(given, 10) || 1, 1), 1_024);
}

/** Whether the test kit asks models for answers that are not recorded yet. */
export const recordsModels = (): boolean => process.env.RECORD_MODELS === '1';
