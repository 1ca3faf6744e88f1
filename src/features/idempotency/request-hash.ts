import { hash } from 'node:crypto';

import { canonicalJson, type JsonValue } from '../../common/json.js';

/** Returns a hash of the body, which ignores the order of keys, and of the digest of the attached file, if any. */
export const requestHash = (body: JsonValue | undefined, attachment = ''): string =>
  hash('sha256', canonicalJson(body ?? null) + attachment, 'base64url');
