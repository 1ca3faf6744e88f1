import { hash } from 'node:crypto';

import type { StoredText } from '../../blackboard/queries/stored-texts.js';
import { canonicalJson, type JsonValue } from '../../common/json.js';
import type { ScopedKey } from './idempotency-keys.repository.js';
import type { RequestIds } from './request-ids.js';

/** Maximum length of a key in characters. */
export const MAX_IDEMPOTENCY_KEY = 255;

export interface IdempotentRequest extends ScopedKey {
  hash: string;
  /** Called if the key has no ids yet. */
  newIds: () => RequestIds;
  /** Bytes of the memory budget that it takes while it waits for another request. */
  heldBytes: number;
  /** See HeldRequest. */
  waits: () => void;
  /** Frees the body. The work is impossible afterwards. Must be called at most once. */
  releaseBody: () => void;
}

/** JSON, or a text that is composed from stored pieces for each answer. Both give the same bytes every time. */
export type AnswerContent = string | StoredText;

export interface IdempotentAnswer {
  content: AnswerContent;
  ids: RequestIds;
  /** Stored hash of the body that the answer is for. */
  requestHash: string;
  /** Whether the answer was made for an earlier request. */
  replayed: boolean;
  /** Whether the first request with the key is known to have had another body. */
  mismatch: boolean;
}

/** Returns a hash of the body, which ignores the order of keys, and of the digest of the attached file, if any. */
export const requestHash = (body: JsonValue | undefined, attachment = ''): string =>
  hash('sha256', canonicalJson(body ?? null) + attachment, 'base64url');
