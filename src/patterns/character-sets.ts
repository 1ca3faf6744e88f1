import type { AST } from '@eslint-community/regexpp';

import { type CodePoints, complement, matchedBy, single, union } from './code-points.js';

/** A part of a pattern that matches one character. */
export type CharacterNode = AST.Character | AST.CharacterSet | AST.CharacterClass;

/** `\w`, which `\b` also uses. */
export const WORD: CodePoints = [0x30, 0x39, 0x41, 0x5a, 0x5f, 0x5f, 0x61, 0x7a];
const DIGIT: CodePoints = [0x30, 0x39];
const LINE_END: CodePoints = [0x0a, 0x0a, 0x0d, 0x0d, 0x2028, 0x2029];
// ECMA-262: WhiteSpace and LineTerminator.
const SPACE: CodePoints = [
  0x09, 0x0d, 0x20, 0x20, 0xa0, 0xa0, 0x1680, 0x1680, 0x2000, 0x200a, 0x2028, 0x2029, 0x202f, 0x202f, 0x205f, 0x205f,
  0x3000, 0x3000, 0xfeff, 0xfeff,
];

const properties = new Map<string, CodePoints>();

/** The characters that `node` matches in a pattern with the flag `u`. */
export function charactersOf(node: CharacterNode): CodePoints {
  if (node.type === 'Character') return single(node.value);
  if (node.type === 'CharacterSet') return ofSet(node);
  const elements = union(node.elements.map((element) => ofElement(element as AST.ClassRangesCharacterClassElement)));
  return node.negate ? complement(elements) : elements;
}

function ofElement(element: AST.ClassRangesCharacterClassElement): CodePoints {
  return element.type === 'CharacterClassRange' ? [element.min.value, element.max.value] : charactersOf(element);
}

function ofSet(set: AST.CharacterSet): CodePoints {
  if (set.kind === 'any') return complement(LINE_END);
  if (set.kind === 'property') return ofProperty(set.raw);
  const characters = { digit: DIGIT, space: SPACE, word: WORD }[set.kind];
  return set.negate ? complement(characters) : characters;
}

function ofProperty(escape: string): CodePoints {
  const characters = properties.get(escape) ?? matchedBy(escape);
  properties.set(escape, characters);
  return characters;
}
