/** Repeats a task with several parallel callers, each of which waits for its result before it repeats it. */
export async function inTurns(callers: number, times: number, work: () => Promise<unknown>): Promise<void> {
  let begun = 0;
  const call = async (): Promise<void> => {
    while (begun < times) {
      begun += 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
}
