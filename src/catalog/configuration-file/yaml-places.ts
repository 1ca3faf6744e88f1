import type { Document, LineCounter, Scalar } from 'yaml';
import { isAlias, isCollection, isMap, isScalar, isSeq } from 'yaml';

import type { Path, Place } from '../diagnostics.js';
import type { Interpolation } from './interpolation.js';

/** Finds the places of values in the text of a configuration file. */
export class YamlPlaces {
  /** `text` is the parsed one, in which `interpolation` has set variables aside. */
  constructor(
    private readonly text: string,
    private readonly lines: LineCounter,
    private readonly interpolation: Interpolation,
  ) {}

  /** The place of a position in the parsed text. */
  at(position: number): Place {
    const { line, col } = this.lines.linePos(position);
    // Variables have another length in the file.
    return { line, column: this.interpolation.restore(this.text.slice(position - col + 1, position)).length + 1 };
  }

  /** See `YamlSource.placeOf`. */
  of(path: Path, offset: number | undefined, document: Document): Place | undefined {
    let node: unknown = document.contents;
    let position = startOf(node) ?? 0;
    for (const [depth, segment] of path.entries()) {
      const step = stepInto(isAlias(node) ? node.resolve(document) : node, segment);
      if (step === null && depth === 0) return undefined;
      if (step === null) break;
      position = startOf(step.marker) ?? position;
      node = step.value;
    }
    const inside = offset !== undefined && isScalar(node) ? this.inScalar(node, offset) : undefined;
    return this.at(inside ?? position);
  }

  /**
   * Returns the position of a character of a text. YAML joins lines only at white space, so the other characters are counted.
   * Undefined if variables or escapes make the text another one than the file shows.
   */
  private inScalar({ value, range, type }: Scalar, offset: number): number | undefined {
    if (typeof value !== 'string' || !range) return undefined;
    const [start, end] = range;
    const isQuoted = type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE';
    const isBlock = type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED';
    const first = isBlock ? this.text.indexOf('\n', start) + 1 : start + Number(isQuoted);
    const raw = this.text.slice(first, end - Number(isQuoted));
    if (withoutSpace(raw) !== withoutSpace(value)) return undefined;
    let left = withoutSpace(value.slice(0, offset)).length;
    for (let at = 0; at < raw.length; at++) {
      if (/\s/.test(raw[at]!)) continue;
      if (left-- === 0) return first + at;
    }
    return undefined;
  }
}

const withoutSpace = (text: string): string => text.replace(/\s+/g, '');

/** Returns the value under one path segment and the node that marks its position: the key or the list item. */
function stepInto(node: unknown, segment: string | number): { value: unknown; marker: unknown } | null {
  if (isMap(node)) {
    // If a key occurs twice, this is the last one, because that is the one to remove.
    const pair = node.items.findLast(({ key }) => isScalar(key) && key.value === String(segment));
    return pair ? { value: pair.value, marker: pair.key } : null;
  }
  if (isSeq(node) && typeof segment === 'number' && segment < node.items.length) {
    return { value: node.items[segment], marker: node.items[segment] };
  }
  return null;
}

const startOf = (node: unknown): number | undefined =>
  (isScalar(node) || isCollection(node) || isAlias(node) ? node.range?.[0] : undefined) ?? undefined;
