import { Injectable } from '@nestjs/common';

import { CancelKeys, type CancelVerdict } from '../matching/cancel-keys.js';
import type { Matchable } from '../matching/matcher.js';
import type { CancelExplanation } from './explanation.js';
import type { Offer } from './offer.js';
import { whySeen } from './refusals.js';

const FROM_RECORD = 'The replay took it from the record when it began, so it cancels nothing.';

/** Explains for each agent with the artifact's type in `cancel_on` whether the artifact cancels executions of it. */
@Injectable()
export class CancelExplanations {
  constructor(private readonly keys: CancelKeys) {}

  async of({ matchable, at, notOffered, fromRecord }: Offer): Promise<CancelExplanation[]> {
    return (await this.keys.verdicts(matchable, at)).map((verdict) => {
      const agent = verdict.agent.name;
      if (notOffered !== null) return { agent, verdict: 'not_offered', detail: notOffered };
      if (fromRecord && verdict.kind === 'cancels') return { agent, verdict: 'from_record', detail: FROM_RECORD };
      return { agent, verdict: verdict.kind, detail: sentenceOf(verdict, matchable) };
    });
  }
}

/** The sentence quotes no key, which may be a secret. */
function sentenceOf(verdict: CancelVerdict, matchable: Matchable): string {
  switch (verdict.kind) {
    case 'cancels':
      return 'It cancels the executions whose key is the same and that were queued before it.';
    case 'own_output':
      return `${verdict.agent.name} published it itself, so it cancels nothing.`;
    case 'visibility':
      return `${verdict.agent.name} may not see it, so it cancels nothing: ${whySeen(matchable.visibility, verdict.agent)}.`;
    case 'key_null':
      return 'cancel_on.key is null for this artifact, so it cancels nothing.';
    case 'key_error':
      return `cancel_on.key ${verdict.message}, so it cancels nothing.`;
  }
}
