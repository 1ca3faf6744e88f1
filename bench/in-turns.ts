/** Does something so many times, by so many callers at once, each of whom waits for it to end before he does it again. */
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
