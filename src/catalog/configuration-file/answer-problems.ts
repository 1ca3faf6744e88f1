import { isOnly, type Kind, type ValueType } from '../../cel/types/value-type.js';
import { listed, nearestName } from '../../common/names-in-messages.js';
import { type ResultProblem, resultProblems } from './result-problems.js';

/** The payloads of the types that an agent publishes, by name. */
export type Published = ReadonlyMap<string, ValueType>;

/**
 * Finds parts of an answer that can never be published. The answer is the payload of the only type, or an object keyed
 * by type name; a list publishes several artifacts, and null none.
 */
export function answerProblems(answer: ValueType, published: Published): ResultProblem[] {
  const [only, ...others] = published;
  if (only === undefined) return [];
  return others.length === 0 ? publishProblems(answer, ...only) : keyedProblems(answer, published);
}

const MAY_REPEAT: readonly Kind[] = ['list', 'null'];

function publishProblems(given: ValueType, name: string, payload: ValueType): ResultProblem[] {
  if (given.branches) return given.branches.flatMap((branch) => publishProblems(branch, name, payload));
  if (isOnly(given, 'null')) return [];
  if (isOnly(given, 'list')) return given.items ? resultProblems(given.items, payload, name) : [];
  const others = MAY_REPEAT.filter((kind) => given.kinds?.has(kind));
  return resultProblems(given, { ...payload, kinds: new Set<Kind>(['map', ...others]) }, name);
}

function keyedProblems(given: ValueType, published: Published): ResultProblem[] {
  if (given.branches) return given.branches.flatMap((branch) => keyedProblems(branch, published));
  const names = [...published.keys()];
  const keyed = `an object keyed by type name (${listed(names, 'and')})`;
  const { kinds, fields, origin } = given;
  if (kinds && kinds.size > 0 && !kinds.has('map') && !kinds.has('null'))
    return [{ message: `gives a single value, but the agent publishes several types; give ${keyed}`, origin }];
  if (!isOnly(given, 'map') || !fields) return [];
  return fields.required.flatMap((field) => {
    const found = fields.find(field);
    if (typeof found === 'string') return [];
    const payload = published.get(field);
    if (payload) return publishProblems(found.type, field, payload);
    const nearest = nearestName(field, names);
    const help = nearest === undefined ? `give ${keyed}` : `did you mean ${nearest}?`;
    const message = `gives ${field}, but the agent does not publish this type; ${help}`;
    return [{ message, origin: found.type.origin ?? origin }];
  });
}
