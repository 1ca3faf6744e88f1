/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The process's environment; everything else gets it handed in. */
export const readEnvironment = (): Environment => ({ ...process.env });

/** How many threads libuv has: Node's own variable, read as libuv does. */
export function threadPoolSize(): number {
  const given = process.env.UV_THREADPOOL_SIZE;
  return given === undefined ? 4 : Math.min(Math.max(Number.parseInt(given, 10) || 1, 1), 1_024);
}
