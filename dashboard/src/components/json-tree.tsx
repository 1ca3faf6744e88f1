import { type ReactNode, useEffect, useState } from 'react';

import { jsonText, numberText, unreversedText } from '../formats';
import { LongText } from './long-text';

/** More entries of one object or list are shown on request. */
const SHOWN = 100;

export interface JsonTreeProps {
  value: unknown;
  /** Only branches with this text in a name or a value are shown, and they are open. */
  search: string;
}

/** A JSON value as a tree whose branches open and close. */
export function JsonTree({ value, search }: JsonTreeProps): ReactNode {
  const wanted = search.trim().toLowerCase();
  if (wanted !== '' && !contains(value, wanted)) return <p className="text-muted">Nothing here contains this text.</p>;
  return (
    <div className="overflow-x-auto font-mono text-table">
      {isBranch(value) ? <Entries value={value} level={0} wanted={wanted} /> : <Leaf value={value} />}
    </div>
  );
}

type Branch = Record<string, unknown> | unknown[];

const isBranch = (value: unknown): value is Branch => typeof value === 'object' && value !== null;

function contains(value: unknown, wanted: string): boolean {
  if (!isBranch(value)) return String(value).toLowerCase().includes(wanted);
  return Object.entries(value).some(([name, child]) => matches(value, name, child, wanted));
}

const matches = (parent: Branch, name: string, child: unknown, wanted: string): boolean =>
  (!Array.isArray(parent) && name.toLowerCase().includes(wanted)) || contains(child, wanted);

interface EntriesProps {
  value: Branch;
  level: number;
  wanted: string;
}

function Entries({ value, level, wanted }: EntriesProps): ReactNode {
  const [count, setCount] = useState(SHOWN);
  const entries = Object.entries(value).filter(([name, child]) => wanted === '' || matches(value, name, child, wanted));
  if (entries.length === 0) return <p className="text-muted">{Array.isArray(value) ? '[ ]' : '{ }'}</p>;
  return (
    <ul>
      {entries.slice(0, count).map(([name, child]) => (
        <li key={name}>
          <Entry name={name} value={child} level={level} wanted={wanted} />
        </li>
      ))}
      {entries.length > count && (
        <li>
          <button type="button" className="link min-h-6" onClick={() => setCount(count + SHOWN)}>
            Show more of {numberText(entries.length)}
          </button>
        </li>
      )}
    </ul>
  );
}

interface EntryProps {
  name: string;
  value: unknown;
  level: number;
  wanted: string;
}

function Entry({ name, value, level, wanted }: EntryProps): ReactNode {
  const isFound = wanted !== '' && isBranch(value) && contains(value, wanted);
  const [isOpen, setIsOpen] = useState(level === 0);
  useEffect(() => {
    if (isFound) setIsOpen(true);
  }, [isFound, wanted]);
  if (!isBranch(value))
    return (
      <div className="flex min-h-6 gap-2 pl-4">
        <span className="max-w-1/2 shrink-0 text-muted">{unreversedText(name)}</span>
        <Leaf value={value} />
      </div>
    );
  const size = Object.keys(value).length;
  return (
    <details open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary className="min-h-6 rounded-md text-muted hover:text-text">
        {unreversedText(name)}{' '}
        <span className="text-label">{Array.isArray(value) ? `[${numberText(size)}]` : `{${numberText(size)}}`}</span>
      </summary>
      {isOpen && (
        <div className="ml-1.5 border-l border-line pl-2.5">
          {/* A name that matches shows everything below it. */}
          <Entries value={value} level={level + 1} wanted={isFound ? wanted : ''} />
        </div>
      )}
    </details>
  );
}

const Leaf = ({ value }: { value: unknown }): ReactNode => (
  <span className="min-w-24 whitespace-pre-wrap">
    <LongText text={jsonText(value)} />
  </span>
);
