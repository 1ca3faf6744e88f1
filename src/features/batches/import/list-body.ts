import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';

import { BadRequestException } from '@nestjs/common';

import { DomainError } from '../../../common/domain-error.js';
import { canonicalJson, isJsonObject, type JsonObject } from '../../../common/json.js';
import type { MemoryReservation } from '../../../common/memory-budget.js';
import { parsedSize } from '../../../common/parsed-size.js';
import { parseJson } from '../../../http/bodies/body-parser.js';
import { findUnsafeJson } from '../../../http/bodies/json-safety.js';
import { MOST_ITEMS } from '../dto/batch-request.js';
import { ListScanner, type ScanLimits } from './list-scanner.js';
import type { Spool } from './spool.js';

const FIELD = 'batch_inputs';
/** Level of nesting: the body is level 1, the list level 2. */
const LEVEL_OF_ITEMS = 3;

/** The checked items of a list that is stored in a spool. */
export class ListedItems {
  constructor(
    private readonly spool: Spool,
    private readonly limits: ScanLimits,
    readonly count: number,
    /** Size of all items as JSON. */
    readonly bytes: number,
    /**
     * Number of the list if the body has several fields with this name. The last one counts, as with `JSON.parse`.
     */
    private readonly which: number,
    /** SHA-256 of the items; equal for equal items. Null unless the caller wants it. */
    readonly digest: string | null,
  ) {}

  /** Yields the items as JSON, in parts. */
  async *parts(): AsyncGenerator<Buffer[]> {
    let found: Buffer[] = [];
    let list = 0;
    const scanner = new ListScanner(FIELD, this.limits, {
      list: () => void (list += 1),
      item: (json) => void (list === this.which && found.push(json)),
    });
    for await (const chunk of this.spool.chunks()) {
      scanner.write(chunk);
      if (found.length > 0) yield found;
      found = [];
    }
  }
}

export interface ListBody {
  /** The body, in which the list is empty. */
  fields: unknown;
  items: ListedItems | null;
}

/**
 * Reads and checks a batch's JSON body, item by item. `memory` counts the bytes of the incomplete item and of the
 * fields. Throws 400, 413, and DomainError `invalid` if an item is not an object or there are too many items.
 */
export async function readListBody(
  spool: Spool,
  limits: ScanLimits,
  memory: MemoryReservation,
  wantsDigest: boolean,
): Promise<ListBody> {
  const checks = new ItemChecks(wantsDigest);
  const scanner = new ListScanner(FIELD, limits, checks);
  const spooled = memory.bytes;
  for await (const chunk of spool.chunks()) {
    scanner.write(chunk);
    memory.resize(spooled + scanner.heldBytes);
  }
  const rest = scanner.end();
  if (!isUtf8(rest)) throw notUtf8();
  memory.resize(spooled + parsedSize(rest));
  const fields = parseJson(rest.toString('utf8'), 'The body');
  const hasList = isJsonObject(fields) && Array.isArray(fields[FIELD]) && checks.lists > 0;
  return {
    fields,
    items: hasList ? new ListedItems(spool, limits, checks.items, checks.bytes, checks.lists, checks.digest()) : null,
  };
}

class ItemChecks {
  lists = 0;
  items = 0;
  bytes = 0;
  private sum = createHash('sha256');

  constructor(private readonly wantsDigest: boolean) {}

  list(): void {
    this.lists += 1;
    this.items = 0;
    this.bytes = 0;
    this.sum = createHash('sha256');
  }

  item(json: Buffer): void {
    if (this.items === MOST_ITEMS) {
      throw new DomainError(
        'invalid',
        `${FIELD}: must not have more than ${MOST_ITEMS} items; send several batches, or upload a CSV file`,
      );
    }
    const name = `${FIELD}[${this.items}]`;
    const item = parseItem(json, name);
    if (!isJsonObject(item)) throw new DomainError('invalid', `${name}: must be an object`);
    if (this.wantsDigest) this.sum.update(canonicalJson(item)).update('\n');
    this.items += 1;
    this.bytes += json.length;
  }

  digest(): string | null {
    return this.wantsDigest ? this.sum.digest('base64url') : null;
  }
}

function parseItem(json: Buffer, name: string): unknown {
  if (!isUtf8(json)) throw notUtf8();
  const text = json.toString('utf8');
  const item = tryToParse(text, name);
  const problem = findUnsafeJson(text, item, LEVEL_OF_ITEMS);
  if (problem) throw new BadRequestException(problem);
  return item;
}

function tryToParse(json: string, name: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new BadRequestException(`The body is not valid JSON: ${name}: ${(error as Error).message}`);
  }
}

/** Parses an item that was checked before. */
export const checkedItem = (json: Buffer): JsonObject => JSON.parse(json.toString('utf8')) as JsonObject;

const notUtf8 = (): Error => new BadRequestException('The body is not valid UTF-8');
