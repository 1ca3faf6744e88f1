import type { JsonObject } from '../../../common/json.js';

/** A batch before its rows are read. */
export interface BatchDraft {
  id: string;
  agent: string;
  maxWorkers: number;
  staticInputs: JsonObject;
  /** Maps columns or keys to input names and drops the others; null keeps everything. */
  inputMapping: Record<string, string> | null;
  /** Column or key; rows with equal values run once. */
  rowKey: string | null;
}
