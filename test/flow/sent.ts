/** The times of a client's request, between which the service has stored what it sent (epoch ms). */
export interface Sent {
  from: number;
  until: number;
}

export const isBefore = (one: Sent, other: Sent): boolean => one.until < other.from;
