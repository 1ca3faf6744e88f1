import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';

import { announce } from './announcer';
import type { ConfirmProps } from './dialog';

export interface Question {
  isOpen: boolean;
  ask: () => void;
  /** For the Confirm that asks. */
  confirm: Pick<ConfirmProps, 'isOpen' | 'onClose' | 'onConfirm' | 'isBusy' | 'error'>;
}

export interface QuestionOptions<T> {
  /** Called after the person has confirmed. A rejection stays in the dialog. */
  run: () => Promise<T>;
  /** The text that screen readers announce after success. */
  done: string;
  onDone?: (result: T) => unknown;
}

/** A change that is made after a question. */
export function useQuestion<T>({ run, done, onDone }: QuestionOptions<T>): Question {
  const [isOpen, setIsOpen] = useState(false);
  const change = useMutation({
    mutationFn: run,
    onSuccess: async (result) => {
      setIsOpen(false);
      announce(done);
      await onDone?.(result);
    },
  });
  return {
    isOpen,
    ask: () => {
      change.reset();
      setIsOpen(true);
    },
    confirm: {
      isOpen,
      onClose: () => setIsOpen(false),
      onConfirm: () => change.mutateAsync().catch(() => undefined),
      isBusy: change.isPending,
      error: change.error,
    },
  };
}
