import type { ListedItems } from './list-body.js';
import type { TemporaryFile } from './temporary-file.js';

/** The rows that came with a request: an uploaded CSV file, or the items of a list. */
export type BatchSource = { file: TemporaryFile } | { items: ListedItems };
