// Prints how many bytes the value of the JSON on standard input takes. It runs in a separate process: in another one, a
// collection would also free other garbage.
import { readFileSync } from 'node:fs';

const parsed = { value: JSON.parse(readFileSync(0, 'utf8')) };
const held = usedMemory();
parsed.value = null;
console.log(held - usedMemory());

function usedMemory() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
