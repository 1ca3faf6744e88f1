import { closeSync, openSync, readSync } from 'node:fs';

const LONGEST_BYTES = 64 * 1_024;

const PROBLEMS: Record<string, string> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder; name a file that contains only the value',
  EACCES: 'this process has no permission to read it',
  EPERM: 'this process has no permission to read it',
};

/**
 * The text of a file that contains only a setting's value, without the final line break; or a problem that does not
 * quote it.
 */
export function readSecretFile(path: string): { text: string } | { problem: string } {
  try {
    const bytes = readBounded(path);
    if (bytes.length > LONGEST_BYTES)
      return { problem: `it is larger than ${LONGEST_BYTES / 1_024} KiB; name a file that contains only the value` };
    const text = bytes.toString('utf8').replace(/[\r\n]+$/, '');
    return text === '' ? { problem: 'it is empty; write the value into it' } : { text };
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    return { problem: PROBLEMS[code] ?? `it cannot be read: ${message}` };
  }
}

/**
 * Reads at most one byte more than allowed. The path may also be a pipe, such as a shell's `<(...)`, or an endless
 * device.
 */
function readBounded(path: string): Buffer {
  const descriptor = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(LONGEST_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read)
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
    return bytes.subarray(0, length);
  } finally {
    closeSync(descriptor);
  }
}
