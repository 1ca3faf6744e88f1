import { useSyncExternalStore } from 'react';

/** A choice that this browser keeps, and that is an attribute of the root element. */
interface Choice {
  key: string;
  attribute: string;
}

const listeners = new Set<() => void>();

function read({ key }: Choice): string {
  try {
    return localStorage.getItem(key) ?? '';
  } catch {
    // The browser stores nothing for this page.
    return '';
  }
}

function apply(choice: Choice, value: string): void {
  if (value === '') document.documentElement.removeAttribute(choice.attribute);
  else document.documentElement.setAttribute(choice.attribute, value);
}

function write(choice: Choice, value: string): void {
  apply(choice, value);
  try {
    localStorage.setItem(choice.key, value);
  } catch {
    // It is valid until the page is closed.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

const useChoice = (choice: Choice): string =>
  useSyncExternalStore(subscribe, () => document.documentElement.getAttribute(choice.attribute) ?? '');

const THEME: Choice = { key: 'starling-theme', attribute: 'data-theme' };
const ROWS: Choice = { key: 'starling-rows', attribute: 'data-rows' };

/** Call it before the first paint. */
export function applyChoices(): void {
  for (const choice of [THEME, ROWS]) apply(choice, read(choice));
}

export type Theme = '' | 'light' | 'dark';

/** The theme; empty follows the system. */
export const useTheme = (): Theme => useChoice(THEME) as Theme;
export const setTheme = (theme: Theme): void => write(THEME, theme);

export const useDenseRows = (): boolean => useChoice(ROWS) === 'dense';
export const setDenseRows = (dense: boolean): void => write(ROWS, dense ? 'dense' : '');
