// The files that the laboratory runs in a place of their own.
import {trusted} from '../trusted';

/** fileOf returns the address of such a file. */
export function fileOf(name: 'worker' | 'own'): string {
  const names = JSON.parse(document.documentElement.dataset.workers!) as Record<string, string>;
  return `/static/${names[name]}`;
}

/** startMeter starts a worker that measures. */
export const startMeter = (): Worker => new Worker(trusted(fileOf('worker')), {type: 'module'});
