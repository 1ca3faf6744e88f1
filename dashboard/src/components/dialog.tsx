import { type ReactNode, useEffect, useId, useRef } from 'react';

import { Icon } from './icon';

export interface DialogProps {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  children: ReactNode;
}

/** A modal dialog. Escape and a click beside it close it. */
export function Dialog({ title, isOpen, onClose, children }: DialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    if (!isOpen) return dialog.current?.close();
    dialog.current?.showModal();
    // Otherwise the button that closes it has the focus.
    dialog.current?.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }, [isOpen]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
      // Otherwise a panel that has it would close with it.
      onKeyDown={(event) => event.key === 'Escape' && event.stopPropagation()}
      className="m-auto w-full max-w-120 rounded-md border border-line bg-surface p-0 text-left whitespace-normal shadow-overlay"
    >
      {isOpen && (
        <div className="flex flex-col gap-4 p-4">
          <div className="flex items-center justify-between gap-4">
            <h2 id={titleId} className="text-body font-strong">
              {title}
            </h2>
            <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
              <Icon name="cross" />
            </button>
          </div>
          {children}
        </div>
      )}
    </dialog>
  );
}

export interface ConfirmProps extends Omit<DialogProps, 'children'> {
  /** Says what will happen, and to how many. */
  children: ReactNode;
  /** A verb, such as "Cancel the correlation". */
  action: string;
  onConfirm: () => Promise<unknown>;
  isBusy: boolean;
  error: Error | null;
}

/** Asks before something that cannot be undone. The server's answer to a refusal stays in the dialog. */
export function Confirm({ children, action, onConfirm, isBusy, error, ...dialog }: ConfirmProps): ReactNode {
  return (
    <Dialog {...dialog}>
      <div className="text-table">{children}</div>
      {error && (
        <p role="alert" className="text-table text-failed">
          {error.message}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <button type="button" className="button" onClick={dialog.onClose}>
          Leave it
        </button>
        <button type="button" className="button-main" disabled={isBusy} onClick={() => void onConfirm()}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
