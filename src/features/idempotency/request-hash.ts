import { hash } from 'node:crypto';
import { canonicalJson } from '../../common/canonical-json.js';
import type { JsonValue } from '../../common/json.js';

/** The same for bodies that say the same, however their keys are ordered, with the same file (by its digest) or none. */
export const requestHash = (body: JsonValue | undefined, attachment = ''): string =>
  hash('sha256', canonicalJson(body ?? null) + attachment, 'base64url');
