import type { ListedItems } from './list-body.js';
import type { TemporaryFile } from './temporary-file.js';

/** What the rows of a batch are made of, where it came with the request: an uploaded CSV, or the items of a list. */
export type BatchSource = { file: TemporaryFile } | { items: ListedItems };
