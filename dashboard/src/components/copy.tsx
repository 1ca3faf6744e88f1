import { type ReactNode, useEffect, useState } from 'react';

import { curlText, type ShownRequest } from '../api/requests';
import { shortId } from '../formats';
import { announce } from './announcer';
import { Icon, type IconName } from './icon';
import { Place, type PlaceProps } from './place';

const SHOWN_MS = 1_500;

/** Returns whether it was copied a moment ago, and the function that copies. */
function useCopy(text: () => string): [boolean, () => void] {
  const [isCopied, setIsCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return;
    const timer = setTimeout(() => setIsCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    void writeClipboard(text()).then(() => {
      setIsCopied(true);
      announce('Copied');
    });
  };
  return [isCopied, copy];
}

/** Browsers have no clipboard on a page that came over plain HTTP from another machine, except through a selection. */
async function writeClipboard(text: string): Promise<void> {
  if ('clipboard' in navigator) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

export interface CopyButtonProps {
  /** Called when it is needed. */
  text: () => string;
  /** Such as "Copy id". */
  label: string;
}

/** An icon that copies a text. */
export function CopyButton({ text, label }: CopyButtonProps): ReactNode {
  const [isCopied, copy] = useCopy(text);
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      onClick={copy}
      className="inline-flex size-6 shrink-0 items-center justify-center rounded-md text-muted hover:bg-raised hover:text-text"
    >
      <Icon name={isCopied ? 'check' : 'copy'} className="size-3.5" />
    </button>
  );
}

/** Copies the request behind what is shown, for a shell. Without a request, such as while a field is not valid, it is disabled. */
export function CurlButton({ request }: { request: ShownRequest | undefined }): ReactNode {
  const [isCopied, copy] = useCopy(() => (request === undefined ? '' : curlText(request)));
  const icon: IconName = isCopied ? 'check' : 'terminal';
  return (
    <button type="button" className="button" disabled={request === undefined} onClick={copy}>
      <Icon name={icon} />
      Copy as curl
    </button>
  );
}

export interface IdChipProps {
  id: string;
  /** The kind of thing that has this id, such as "artifact". */
  what: string;
  /** The view that the id leads to. */
  to?: Omit<PlaceProps, 'children' | 'className'>;
}

/** An id in its short form, with a button that copies all of it. */
export function IdChip({ id, what, to }: IdChipProps): ReactNode {
  const text = (
    <span className="truncate font-mono" title={id}>
      {shortId(id)}
    </span>
  );
  return (
    <span className="inline-flex max-w-full items-center gap-0.5 text-label">
      {to === undefined ? text : <Place {...to}>{text}</Place>}
      <CopyButton text={() => id} label={`Copy ${what} id`} />
    </span>
  );
}
