import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';

import { answered, api } from '../../api/client';
import type { Schemas } from '../../api/requests';
import { Confirm } from '../../components/dialog';
import { ChoiceField } from '../../components/fields';
import { Icon } from '../../components/icon';
import { useQuestion } from '../../components/use-question';
import { NO_CHANGES, requestOf } from './replay-changes';
import { ReplayChangesEditor } from './replay-changes-editor';

type Mode = Schemas['ReplayRequest']['mode'];

const MODES: Record<Mode, { text: string; about: string }> = {
  recorded: {
    text: 'Recorded: only agents that have changed run',
    about:
      'Agents whose definition has not changed answer from the record, at no cost. The others run, and so does everything behind them. No webhook is sent.',
  },
  shadow: {
    text: 'Shadow: models are asked again, without effects',
    about:
      'Models are called and cost money. Webhooks, http and external agents, tools, and functions that are not declared pure are not called: they answer from the record, or their branch ends with the reason.',
  },
  full: {
    text: 'Full: every agent runs',
    about: "It is a real run: models are called and cost money, and the operator's webhook gets the artifacts.",
  },
};

/** Replays a correlation in the mode and with the changes that the person chooses, and goes to the new correlation. */
export function Replay({ id }: { id: string }): ReactNode {
  const navigate = useNavigate();
  const [mode, setMode] = useState<Mode>('recorded');
  const [changes, setChanges] = useState(NO_CHANGES);
  const question = useQuestion({
    run: () =>
      answered(
        api.POST('/api/v1/correlations/{correlation_id}/replay', {
          params: { path: { correlation_id: id } },
          body: { mode, ...requestOf(changes) },
        }),
      ),
    done: 'The replay has begun',
    onDone: ({ correlation_id }) =>
      navigate({ to: '/correlations/$id' as string, params: { id: correlation_id } as never }),
  });
  return (
    <>
      <button type="button" className="button" onClick={question.ask}>
        <Icon name="forward" />
        Replay
      </button>
      <Confirm title="Replay this correlation?" action="Start the replay" {...question.confirm}>
        <div className="flex flex-col gap-3">
          <p>
            What clients published in it is published again, in a new correlation apart from live work. This one stays
            as it is.
          </p>
          <ChoiceField
            label="Mode"
            value={mode}
            choices={(Object.keys(MODES) as Mode[]).map((value) => ({ value, text: MODES[value].text }))}
            onChange={setMode}
          />
          <p>{MODES[mode].about}</p>
          <ReplayChangesEditor changes={changes} onChange={setChanges} />
        </div>
      </Confirm>
    </>
  );
}
