import type { CelType } from '@bufbuild/cel';

import { language } from '../language/language.js';
import { ANY, type Kind, listOf, mayBe, oneOf, union, type ValueType } from './value-type.js';

const KINDS: Readonly<Record<string, Kind>> = {
  null_type: 'null',
  bool: 'bool',
  int: 'int',
  uint: 'uint',
  double: 'double',
  string: 'string',
  bytes: 'bytes',
  list: 'list',
  map: 'map',
  type: 'type',
  'google.protobuf.Timestamp': 'time',
  'google.protobuf.Duration': 'duration',
};

/** How a call may be resolved: the results of all fitting functions, or the operands that would fit. */
export type Resolution = { result: ValueType } | { takes: (Kind | null)[][] };

/** Resolves a call as the library does at run time, by the kinds of its operands. A method's target comes first. */
export function resolve(name: string, operands: readonly ValueType[], isMethod: boolean): Resolution {
  const candidates = Array.from(language.funcs.find(name) ?? [])
    .filter(({ target }) => (target !== undefined) === isMethod)
    .map(({ target, arguments: args, result }) => ({
      takes: [...(target ? [target] : []), ...args].map(kindOf),
      result,
    }))
    .filter(({ takes }) => takes.length === operands.length);
  const fitting = candidates.filter(({ takes }) =>
    takes.every((kind, at) => kind === null || mayBe(operands[at]!, kind)),
  );
  if (fitting.length > 0) return { result: union(fitting.map(({ result }) => typeOf(name, result))) };
  return candidates.length > 0 ? { takes: candidates.map(({ takes }) => takes) } : { result: ANY };
}

/** The kind of a CEL type; null if it stands for all. */
const kindOf = ({ name }: CelType): Kind | null => KINDS[name] ?? null;

function typeOf(name: string, result: CelType): ValueType {
  if (name === 'split') return listOf(oneOf('string'));
  const kind = kindOf(result);
  return kind === null ? ANY : oneOf(kind);
}
