import {
  type ArrayFieldItemTemplateProps,
  type ArrayFieldTemplateProps,
  descriptionId,
  errorId,
  type FieldErrorProps,
  type FieldTemplateProps,
  type ObjectFieldTemplateProps,
  titleId,
} from '@rjsf/utils';
import type { ReactNode } from 'react';

import { Icon } from '../icon';
import { hasLegend, idOf, isGroup } from './fields';

/** A field with its label, its description and what is wrong with it. */
export function Field(props: FieldTemplateProps): ReactNode {
  const { schema, children, errors, rawDescription, fieldPathId } = props;
  if (hasLegend(schema))
    return (
      <div className="flex flex-col gap-1">
        {children}
        {errors}
      </div>
    );
  const isItem = typeof fieldPathId.path.at(-1) === 'number';
  return (
    <div className="flex min-w-0 flex-col gap-1 text-table">
      <span className={isItem ? 'sr-only' : ''}>
        <Label {...props} />
      </span>
      <Description id={idOf(props.id, schema)} text={rawDescription} />
      {'const' in schema ? <p className="text-muted">{String(schema.const)}</p> : children}
      {errors}
    </div>
  );
}

function Label({ id, schema, label, required, fieldPathId }: FieldTemplateProps): ReactNode {
  const own = idOf(id, schema);
  const isItem = typeof fieldPathId.path.at(-1) === 'number';
  const text = (
    <>
      {titleText(label)}
      {!required && !isItem && <Optional />}
    </>
  );
  return isGroup(schema) || 'const' in schema ? (
    <span id={titleId(own)}>{text}</span>
  ) : (
    <label id={titleId(own)} htmlFor={own}>
      {text}
    </label>
  );
}

const Optional = (): ReactNode => <span className="font-normal text-muted"> (optional)</span>;

/** Items of an array are called `name-1`. */
const titleText = (title: string): string => title.replace(/-(\d+)$/, ' $1');

function Description({ id, text }: { id: string; text: ReactNode }): ReactNode {
  if (text === undefined || text === '') return null;
  return (
    <p id={descriptionId(id)} className="text-label text-muted">
      {text}
    </p>
  );
}

export function FieldError({ errors = [], fieldPathId }: FieldErrorProps): ReactNode {
  if (errors.length === 0) return null;
  return (
    <p id={errorId(fieldPathId)} className="text-label text-failed">
      {errors.join('; ')}
    </p>
  );
}

interface FieldsetProps {
  id: string;
  title: string;
  description: ReactNode;
  isOptional: boolean;
  children: ReactNode;
}

function Fieldset({ id, title, description, isOptional, children }: FieldsetProps): ReactNode {
  const isDescribed = description !== undefined && description !== '';
  return (
    <fieldset
      id={id}
      {...(isDescribed && { 'aria-describedby': descriptionId(id) })}
      className="min-w-0 border-l border-line pl-3"
    >
      <legend className="float-left pb-1 text-table font-strong">
        {titleText(title)}
        {isOptional && <Optional />}
      </legend>
      <div className="clear-left flex flex-col gap-3">
        {isDescribed && <Description id={id} text={description} />}
        {children}
      </div>
    </fieldset>
  );
}

export function ObjectFields({
  fieldPathId,
  title,
  required,
  schema,
  properties,
}: ObjectFieldTemplateProps): ReactNode {
  const contents = properties.map(({ content, name }) => (
    <div key={name} className="min-w-0">
      {content}
    </div>
  ));
  if (fieldPathId.path.length === 0) return <div className="flex flex-col gap-4">{contents}</div>;
  const isItem = typeof fieldPathId.path.at(-1) === 'number';
  return (
    <Fieldset
      id={fieldPathId.$id}
      title={title}
      description={schema.description}
      isOptional={required !== true && !isItem}
    >
      {contents}
    </Fieldset>
  );
}

export function ArrayItems(props: ArrayFieldTemplateProps): ReactNode {
  const { fieldPathId, title, required, schema, items, onAddClick } = props;
  return (
    <Fieldset id={fieldPathId.$id} title={title} description={schema.description} isOptional={required !== true}>
      {items}
      <button type="button" data-add className="button self-start" onClick={onAddClick}>
        Add to {titleText(title)}
      </button>
    </Fieldset>
  );
}

export function ArrayItem({ children, index, totalItems, buttonsProps }: ArrayFieldItemTemplateProps): ReactNode {
  const number = index + 1;
  return (
    <div className="flex min-w-0 flex-wrap items-start gap-1">
      <div className="min-w-40 flex-1">{children}</div>
      <span className="flex">
        {totalItems > 1 && (
          <>
            <button
              type="button"
              className="icon-button disabled:opacity-40"
              aria-label={`Move item ${number} up`}
              disabled={!buttonsProps.hasMoveUp}
              onClick={buttonsProps.onMoveUpItem}
            >
              <Icon name="down" className="rotate-180" />
            </button>
            <button
              type="button"
              className="icon-button disabled:opacity-40"
              aria-label={`Move item ${number} down`}
              disabled={!buttonsProps.hasMoveDown}
              onClick={buttonsProps.onMoveDownItem}
            >
              <Icon name="down" />
            </button>
          </>
        )}
        <button
          type="button"
          className="icon-button"
          aria-label={`Remove item ${number}`}
          onClick={(event) => {
            // The focus would go to the page with the button that had it.
            event.currentTarget.closest('fieldset')?.querySelector<HTMLElement>(':scope > div > [data-add]')?.focus();
            buttonsProps.onRemoveItem(event);
          }}
        >
          <Icon name="cross" />
        </button>
      </span>
    </div>
  );
}
