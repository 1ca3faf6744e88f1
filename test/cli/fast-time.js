// Imported by a program before its own modules, has it live through a minute of its own waiting in seconds.
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

const SPEED = 20;

const { setTimeout } = timers;
timers.setTimeout = (delay, ...more) => setTimeout(delay / SPEED, ...more);
syncBuiltinESMExports();

const now = performance.now.bind(performance);
performance.now = () => now() * SPEED;
