import { useCallback, useEffect, useState } from 'react';

import { answered, api, ApiError } from '../../api/client';

const NAME_KEY = 'starling-name';
const SHORTCUTS_KEY = 'starling-inbox-keys';
const leaseKey = (id: string): string => `starling-lease-${id}`;

/** A lease on an execution that this tab claimed. */
export interface Lease {
  token: string;
  until: string;
}

/** The name that claims are sent with; empty until it was asked for. */
export const storedName = (): string => localStorage.getItem(NAME_KEY) ?? '';
export const storeName = (name: string): void => localStorage.setItem(NAME_KEY, name);

export const areShortcutsOn = (): boolean => localStorage.getItem(SHORTCUTS_KEY) !== 'off';
export const storeShortcuts = (isOn: boolean): void => localStorage.setItem(SHORTCUTS_KEY, isOn ? 'on' : 'off');

/** The token of a lease is shown by the claim alone, so the tab keeps it, also when its page is loaded again. */
function storedLease(id: string): Lease | undefined {
  const text = sessionStorage.getItem(leaseKey(id));
  return text === null ? undefined : (JSON.parse(text) as Lease);
}

const LEAST_MS = 1_000;

/** The lease of this tab on an execution. It is renewed after a third of its time as long as the execution is open. */
export function useHeldLease(id: string): [Lease | undefined, (lease: Lease | undefined) => void] {
  const [lease, setLease] = useState(() => storedLease(id));
  const keep = useCallback(
    (next: Lease | undefined): void => {
      if (next === undefined) sessionStorage.removeItem(leaseKey(id));
      else sessionStorage.setItem(leaseKey(id), JSON.stringify(next));
      setLease(next);
    },
    [id],
  );
  // The timer must not begin again with each drawing, which may be more frequent than the heartbeats.
  useEffect(() => {
    if (lease === undefined) return;
    let isReplaced = false;
    const renewed = (next: Lease | undefined): void => {
      if (!isReplaced) keep(next);
    };
    const inMs = Math.max(LEAST_MS, (Date.parse(lease.until) - Date.now()) / 3);
    const timer = setTimeout(() => {
      const body = { lease_token: lease.token };
      answered(
        api.POST('/api/v1/executions/{execution_id}/heartbeat', { params: { path: { execution_id: id } }, body }),
      ).then(
        ({ lease_until }) => renewed({ ...lease, until: lease_until }),
        // The lease has ended. Without an answer it may still hold, so it is asked for again.
        (error: unknown) => renewed(error instanceof ApiError && error.status === 409 ? undefined : { ...lease }),
      );
    }, inMs);
    return () => {
      isReplaced = true;
      clearTimeout(timer);
    };
  }, [id, lease, keep]);
  return [lease, keep];
}
