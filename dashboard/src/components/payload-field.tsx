import { Component, type KeyboardEvent, lazy, type ReactNode, Suspense, useId, useMemo } from 'react';

import { choice, useFilters } from '../app/filters';
import type { Schema } from '../json-example';
import { JsonField, parseObject } from './json-field';
import { planForm } from './schema-form/form-plan';
import { misfit } from './schema-form/form-value';
import { refusalOf } from './schema-form/refusal';
import { Segments } from './segments';
import { LoadingRows } from './states';

const SchemaForm = lazy(() => import('./schema-form/schema-form'));

export interface PayloadFieldProps {
  label: string;
  schema: Schema | null;
  /** The payload as JSON. */
  value: string;
  onChange: (value: string) => void;
  onBlur?: () => void;
  /** Called for Ctrl+Enter. */
  onSubmit?: () => void;
  /** Buttons beside the label. */
  actions?: ReactNode;
  rows?: number;
  /** The answer to the request with this payload, whose violations are shown at their fields. */
  error: Error | null;
  /** The place of this payload in the request, if there may be several, such as `inputs[1].payload`. */
  place?: string;
}

/** An editor of a payload: a form from the schema of its type, or JSON. The URL holds which, the text holds the value. */
export function PayloadField(props: PayloadFieldProps): ReactNode {
  const { schema, value, onChange, error, place, actions, label } = props;
  const { value: mode, set } = useFilters({ as: choice('form', 'json') });
  const plan = useMemo(() => planForm(schema), [schema]);
  const { object } = useMemo(() => parseObject(value), [value]);
  const refused = useMemo(() => (error === null ? {} : refusalOf(error.message, place)), [error, place]);
  const lost = plan.schema && object && misfit(plan.schema, object);
  const isForm = mode.as === 'form' && object !== undefined && lost === undefined;
  const edit = (next: string): void => {
    // Otherwise a form would take the place of the text as soon as it fits one.
    if (mode.as === 'form' && plan.schema) set({ as: 'json' });
    onChange(next);
  };
  const json = (buttons: ReactNode, reason?: string): ReactNode => (
    <div className="flex flex-col gap-1">
      <JsonField {...props} onChange={edit} actions={buttons} />
      {reason !== undefined && <p className="text-label text-muted">{reason}</p>}
    </div>
  );
  if (plan.why !== undefined) return json(actions, plan.why);
  const buttons = (
    <span className="flex flex-wrap items-center gap-3">
      {actions}
      <Segments
        label={`Edit ${label} as`}
        value={isForm ? 'form' : 'json'}
        choices={MODES}
        onChange={(as) => set({ as })}
      />
    </span>
  );
  if (!isForm) {
    const isAsked = mode.as === 'form' && lost !== undefined;
    return json(buttons, isAsked ? `A form cannot show this value: ${lost} does not fit its field.` : undefined);
  }
  return (
    <FallBack to={json(actions, 'The form could not be loaded.')}>
      <FormFrame {...props} actions={buttons}>
        <SchemaForm
          schema={plan.schema}
          value={object}
          onChange={(next) => onChange(JSON.stringify(next, undefined, 2))}
          refused={refused}
        />
      </FormFrame>
    </FallBack>
  );
}

function FormFrame({
  label,
  actions,
  onBlur,
  onSubmit,
  children,
}: PayloadFieldProps & { children: ReactNode }): ReactNode {
  const id = useId();
  const keyDown = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onSubmit?.();
  };
  return (
    <div role="group" aria-labelledby={id} onBlur={onBlur} onKeyDown={keyDown} className="flex min-w-0 flex-col gap-3">
      <div className="flex min-h-6 flex-wrap items-center justify-between gap-2">
        <span id={id} className="text-label text-muted">
          {label}
        </span>
        {actions}
      </div>
      <Suspense fallback={<LoadingRows count={4} />}>{children}</Suspense>
    </div>
  );
}

const MODES = [
  { value: 'form', text: 'Form' },
  { value: 'json', text: 'JSON' },
] as const;

/** Shows something else if its content fails to load or to draw. */
class FallBack extends Component<{ to: ReactNode; children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? this.props.to : this.props.children;
  }
}
