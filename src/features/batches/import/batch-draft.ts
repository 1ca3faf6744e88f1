import type { JsonObject } from '../../../common/json.js';

/** What is known of a batch before its rows are. */
export interface BatchDraft {
  id: string;
  agent: string;
  maxWorkers: number;
  staticInputs: JsonObject;
  /** Source column or key → input name, and what it does not name is dropped; null keeps everything. */
  inputMapping: Record<string, string> | null;
  /** The column or key whose equal values run once. */
  rowKey: string | null;
}
