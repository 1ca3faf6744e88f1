export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** The start of the step that contains a time (epoch ms). Steps begin at multiples of their length, in UTC. */
export const startOfStep = (time: number, stepMs: number): number => time - (time % stepMs);

export const startOfMinute = (time: number): number => startOfStep(time, MINUTE_MS);

export const startOfHour = (time: number): number => startOfStep(time, HOUR_MS);
