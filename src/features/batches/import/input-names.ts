import { DomainError } from '../../../common/domain-error.js';
import { excerpt } from './excerpt.js';

/** Refuses input names that would meet in one input, or that no JSON body may hold. DomainError `invalid`. */
export function checkInputNames(sources: readonly { source: string; name: string }[]): void {
  const sourceOf = new Map<string, string>();
  for (const { source, name } of sources) {
    if (name === '__proto__') {
      throw new DomainError('invalid', `input_mapping: __proto__ may not be the name of an input; give ${excerpt(source)} another one, or drop it`);
    }
    const other = sourceOf.get(name);
    if (other !== undefined) {
      throw new DomainError('invalid', `input_mapping: ${excerpt(other)} and ${excerpt(source)} both become ${excerpt(name)}; give one another name`);
    }
    sourceOf.set(name, source);
  }
}
