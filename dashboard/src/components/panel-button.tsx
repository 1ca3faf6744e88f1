import type { ReactNode } from 'react';

export interface PanelButtonProps {
  id: string;
  /** The id whose panel is open, or an empty text. */
  chosen: string;
  choose: (id: string) => void;
  children: ReactNode;
}

/** The button in a row of a list that opens and closes the panel of the row. */
export function PanelButton({ id, chosen, choose, children }: PanelButtonProps): ReactNode {
  return (
    <button
      type="button"
      className="link max-w-full truncate align-middle"
      aria-expanded={id === chosen}
      onClick={() => choose(id === chosen ? '' : id)}
    >
      {children}
    </button>
  );
}
