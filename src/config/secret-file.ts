import { closeSync, openSync, readSync } from 'node:fs';

const LONGEST_BYTES = 64 * 1_024;

const PROBLEMS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder; name a file that holds the value alone',
  EACCES: 'the user that this process runs as may not read it',
  EPERM: 'the user that this process runs as may not read it',
};

/** The text of a file that holds a setting's value and nothing else, without the line break at its end; or why there is none, which quotes nothing of it. */
export function readSecretFile(path: string): { text: string } | { problem: string } {
  try {
    const bytes = readBounded(path);
    if (bytes.length > LONGEST_BYTES) return { problem: `it is larger than ${LONGEST_BYTES / 1_024} KiB; name a file that holds the value alone` };
    const text = bytes.toString('utf8').replace(/[\r\n]+$/, '');
    return text === '' ? { problem: 'it is empty; write the value into it' } : { text };
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    return { problem: PROBLEMS[code] ?? `it cannot be read: ${message}` };
  }
}

/** A pipe too, as a shell makes one of `<(...)`; a byte more than allowed at most, whatever is behind the path. */
function readBounded(path: string): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(LONGEST_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) read = readSync(descriptor, bytes, length, bytes.length - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}
