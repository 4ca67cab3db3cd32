// Runs a shuffle many times, and says now and then what it shows.
import {algorithms} from '../algorithms';
import {Meter, type Measurement} from './measure';
import {Refusal, send} from './service';
import {wrong} from './shuffles';

/** A Job is what to run. Orders of the reader's own function or file come as messages of their own. */
export interface Job {
  n: number;
  runs: number;
  shuffle: string;
  cyclic: boolean;
  prefix: string;
  token: string;
}

/** A Report is a worker's message. */
export interface Report {
  measurement: Measurement;
  done: boolean;
  refused?: {status: number; message: string};
}

/** Orders are permutations that the page has checked, one after the other. */
export interface Orders {
  orders: Uint8Array;
  last: boolean;
}

let meter: Meter | undefined;
let reported = 0;

function report(done: boolean, refused?: Report['refused']): void {
  if (!done && performance.now() - reported < 150) return;
  reported = performance.now();
  postMessage({measurement: meter!.measurement(), done, refused} satisfies Report);
}

async function run({n, runs, shuffle, cyclic, prefix, token}: Job): Promise<void> {
  const counted = new Meter(n, cyclic);
  meter = counted;
  if (shuffle === 'own' || shuffle === 'file') return; // see Orders
  if (algorithms.includes(shuffle)) {
    while (counted.runs < runs) {
      const repeat = Math.min(runs - counted.runs, Math.floor(1_000_000 / n));
      await send(
        {prefix, token, body: {size: n, repeat, algorithm: shuffle}},
        (order) => counted.add(order),
        () => report(false),
      );
    }
  } else {
    const sorted = Uint8Array.from({length: n}, (_, i) => i),
      a = new Uint8Array(n);
    while (counted.runs < runs) {
      for (let i = Math.min(runs - counted.runs, 2000); i > 0; i--) {
        a.set(sorted);
        wrong[shuffle]!(a);
        counted.add(a);
      }
      report(false);
    }
  }
  report(true);
}

self.onmessage = ({data}: MessageEvent<Job | Orders>) => {
  if ('orders' in data) {
    const {n} = meter!;
    for (let at = 0; at + n <= data.orders.length; at += n) meter!.add(data.orders.subarray(at, at + n));
    report(data.last);
    return;
  }
  run(data).catch((error: unknown) => {
    if (error instanceof Refusal) report(true, {status: error.status, message: error.message});
    else reportError(error);
  });
};
