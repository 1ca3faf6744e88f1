/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The only read of the process's environment. All other code receives it as a parameter. */
export const readEnvironment = (): Environment => ({ ...process.env });

/** The number of libuv threads, from Node's own variable, parsed as libuv parses it. */
export function threadPoolSize(): number {
  const given = process.env.UV_THREADPOOL_SIZE;
  return given === undefined ? 4 : Math.min(Math.max(Number.parseInt(given, 10) || 1, 1), 1_024);
}
