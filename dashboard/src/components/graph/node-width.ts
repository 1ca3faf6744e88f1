const LETTER = 8.5;
const ICON_AND_SPACE = 56;
const NARROWEST = 80;
const WIDEST = 280;

/** Wide enough for an icon and most texts of this length. A longer one is cut off, and has to be the title. */
export const nodeWidth = (text: string): number =>
  Math.round(Math.min(WIDEST, Math.max(NARROWEST, ICON_AND_SPACE + text.length * LETTER)));
