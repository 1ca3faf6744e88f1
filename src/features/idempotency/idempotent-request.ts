import type { ScopedKey } from './idempotency-keys.repository.js';
import type { StoredText } from '../../blackboard/queries/stored-texts.js';
import type { RequestIds } from './request-ids.js';

/** The longest key, in characters. */
export const MAX_IDEMPOTENCY_KEY = 255;

export interface IdempotentRequest extends ScopedKey {
  hash: string;
  /** Called where the key holds none yet. */
  newIds: () => RequestIds;
  /** What it takes of the memory budget while it waits for another one. */
  heldBytes: number;
  /** As HeldRequest's. */
  waits: () => void;
  /** Frees that; the work cannot be done any more. Called once at most. */
  releaseBody: () => void;
}

/** JSON, or what it is made of each time; the same to the byte. */
export type AnswerContent = string | StoredText;

export interface IdempotentAnswer {
  content: AnswerContent;
  ids: RequestIds;
  /** Of the body that the answer is for, as it is stored. */
  requestHash: string;
  /** True where the answer was made for an earlier request. */
  replayed: boolean;
  /** True where the key is known to have been first used with another body. */
  mismatch: boolean;
}
