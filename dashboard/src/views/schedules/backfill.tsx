import { useMutation } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';

import { answered, api } from '../../api/client';
import type { Schemas } from '../../api/requests';
import { announce } from '../../components/announcer';
import { Dialog } from '../../components/dialog';
import { countText, numberText } from '../../formats';

interface BackfillProps {
  name: string;
  done: () => Promise<void>;
}

/** Publishes ticks of the past, after it has shown which. */
export function Backfill({ name, done }: BackfillProps): ReactNode {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => setIsOpen(true)}>
        Backfill
      </button>
      <Dialog title={`Backfill ${name}`} isOpen={isOpen} onClose={() => setIsOpen(false)}>
        <BackfillForm name={name} done={done} close={() => setIsOpen(false)} />
      </Dialog>
    </>
  );
}

const SHOWN = 10;

function BackfillForm({ name, done, close }: BackfillProps & { close: () => void }): ReactNode {
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const send = (dry_run: boolean): Promise<Schemas['BackfillBody']> =>
    answered(
      api.POST('/api/v1/schedules/{schedule_name}/backfill', {
        params: { path: { schedule_name: name } },
        body: { from, to, dry_run },
      }),
    );
  const look = useMutation({ mutationFn: () => send(true) });
  const publish = useMutation({
    mutationFn: () => send(false),
    onSuccess: async ({ ticks }) => {
      announce(`${publishedText(ticks)} of ${name} published`);
      close();
      await done();
    },
  });
  const change = (set: (value: string) => void) => (value: string) => {
    set(value.trim());
    look.reset();
    publish.reset();
  };
  const ticks = look.data?.ticks;
  const error = publish.error ?? look.error;
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        if (ticks === undefined) look.mutate();
        else publish.mutate();
      }}
    >
      <p className="text-table">
        Publishes the ticks of this time that are not published, at most 1,000, each as the schedule was then.
      </p>
      <TimeInput label="From" onChange={change(setFrom)} />
      <TimeInput label="To" onChange={change(setTo)} />
      {ticks && (
        <section aria-label="Ticks" className="text-table">
          {ticks.length === 0 ? 'No tick of this time is left to publish.' : null}
          <ul className="font-mono text-label">
            {ticks.slice(0, SHOWN).map(({ local, reason }) => (
              <li key={local}>
                {local}
                {reason !== null && <span className="text-failed"> fails: {reason}</span>}
              </li>
            ))}
          </ul>
          {ticks.length > SHOWN && <p className="text-muted">and {numberText(ticks.length - SHOWN)} more</p>}
        </section>
      )}
      {error && (
        <p role="alert" className="text-table text-failed">
          {error.message}
        </p>
      )}
      <div className="flex justify-end gap-2">
        <button type="button" className="button" onClick={close}>
          Leave it
        </button>
        <button
          type="submit"
          className="button-main"
          disabled={look.isPending || publish.isPending || (ticks && publishedIn(ticks) === 0)}
        >
          {ticks === undefined ? 'Show the ticks' : `Publish ${publishedText(ticks)}`}
        </button>
      </div>
    </form>
  );
}

type Ticks = Schemas['BackfillBody']['ticks'];

const publishedIn = (ticks: Ticks): number => ticks.filter(({ state }) => state === 'published').length;

const publishedText = (ticks: Ticks): string => countText(publishedIn(ticks), 'tick');

function TimeInput({ label, onChange }: { label: string; onChange: (value: string) => void }): ReactNode {
  return (
    <label className="flex flex-col gap-1 text-table">
      {label}
      <input
        required
        placeholder="2026-11-23"
        title="A whole day in the time zone of the schedule, or a time such as 2026-11-23T09:00Z; without a zone in UTC"
        className="control"
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  );
}
