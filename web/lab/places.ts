// The files that the laboratory runs in a place of their own.
import {prefix} from '../page';
import {trusted} from '../trusted';

/** fileOf returns the address of such a file. */
export function fileOf(name: 'worker' | 'own'): string {
  const names = JSON.parse(document.documentElement.dataset.workers!) as Record<string, string>;
  return `${prefix}/static/${names[name]}`;
}

/** startMeter starts a worker that measures. */
export const startMeter = (): Worker => new Worker(trusted(fileOf('worker')), {type: 'module'});
