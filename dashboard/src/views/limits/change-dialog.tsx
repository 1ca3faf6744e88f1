import { useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId } from 'react';

import { answered, api } from '../../api/client';
import type { Schemas } from '../../api/requests';
import { announce } from '../../components/announcer';
import { Dialog } from '../../components/dialog';
import type { Limit } from './limit-text';

interface ChangeDialogProps {
  limit: Limit;
  isOpen: boolean;
  onClose: () => void;
  onDone: () => unknown;
}

/** Asks for other values of a limit. */
export function ChangeDialog({ limit, isOpen, onClose, onDone }: ChangeDialogProps): ReactNode {
  const { name } = limit;
  const change = useMutation({
    mutationFn: (body: Schemas['LimitRequest']) =>
      answered(api.PUT('/api/v1/limits/{limit_name}', { params: { path: { limit_name: name } }, body })),
    onSuccess: async () => {
      announce(`${name} is changed`);
      close();
      await onDone();
    },
  });
  const close = (): void => {
    change.reset();
    onClose();
  };
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    change.mutate(valuesIn(new FormData(event.currentTarget)));
  };
  return (
    <Dialog title={`Change ${name}`} isOpen={isOpen} onClose={close}>
      <form className="flex flex-col gap-4" onSubmit={submit}>
        <p className="text-table">
          The values hold in all processes, also after a restart, until the change is undone. An empty number of
          executions or an empty rate does not limit.
        </p>
        <Field
          name="concurrency"
          label="Executions at the same time, for each key"
          type="number"
          value={limit.concurrency}
        />
        <Field name="rate" label="Rate, for each key" value={limit.rate} hint="such as 60/m or 5/10s" />
        <Field
          name="burst"
          label="Burst: units of the rate that may start together"
          type="number"
          value={limit.burst}
          hint={limit.units === null ? '1' : 'the count of the rate'}
        />
        {change.error && (
          <p role="alert" className="text-table text-failed">
            {change.error.message}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <button type="button" className="button" onClick={close}>
            Leave it
          </button>
          <button type="submit" className="button-main" disabled={change.isPending}>
            Change the limit
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The service says what is wrong with them. */
function valuesIn(form: FormData): Schemas['LimitRequest'] {
  const textOf = (name: string): string => (form.get(name) as string).trim();
  const [concurrency, rate, burst] = [textOf('concurrency'), textOf('rate'), textOf('burst')];
  return {
    ...(concurrency !== '' && { concurrency: Number(concurrency) }),
    ...(rate !== '' && { rate }),
    ...(burst !== '' && { burst: Number(burst) }),
  };
}

interface FieldProps {
  name: string;
  label: string;
  type?: 'text' | 'number';
  value: string | number | null;
  hint?: string;
}

function Field({ name, label, type = 'text', value, hint }: FieldProps): ReactNode {
  const id = useId();
  return (
    <span className="flex flex-col gap-1 text-table">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        name={name}
        type={type}
        min={type === 'number' ? 1 : undefined}
        defaultValue={value ?? ''}
        placeholder={hint ?? 'any number'}
        className="control"
      />
    </span>
  );
}
