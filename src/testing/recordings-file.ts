import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

import { isJsonObject, type JsonObject } from '../common/json.js';

/** One answer of a model. */
export interface Recording {
  agent: string;
  /** The model's name in the configuration. */
  model: string;
  /** SHA-256 of the request, as hexadecimal digits. */
  request: string;
  /** The parts of the answer, in the form of the AI SDK. */
  answer: JsonObject[];
}

/** The recorded answers of models, as a JSON file that is kept with the test. */
export class RecordingsFile {
  constructor(readonly path: string) {}

  /** Read each time, because several test kits of a process may share the file. */
  all(): Recording[] {
    if (!existsSync(this.path)) return [];
    const text = readFileSync(this.path, 'utf8');
    try {
      const content = JSON.parse(text) as unknown;
      if (isJsonObject(content) && Array.isArray(content.recordings))
        return content.recordings as unknown as Recording[];
    } catch {
      // The error below says what to do.
    }
    throw new Error(`${this.path} has no recordings; delete the file, and run the test with RECORD_MODELS=1`);
  }

  /** Adds a recording. The order does not depend on which agent answered first, so that versions can be compared. */
  add(recording: Recording): void {
    const order = ({ agent, request }: Recording): string => `${agent} ${request}`;
    const recordings = [...this.all(), recording].sort((a, b) => (order(a) < order(b) ? -1 : 1));
    const text = `${JSON.stringify({ recordings }, null, 2)}\n`;
    writeFileSync(`${this.path}.new`, text);
    renameSync(`${this.path}.new`, this.path);
  }
}
