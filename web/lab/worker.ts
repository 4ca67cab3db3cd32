// Runs a shuffle many times, and says now and then what it shows.
import {algorithms} from '../algorithms';
import {Meter, type Measurement} from './measure';
import {Refusal, send} from './service';
import {fair, wrong} from './shuffles';

/** A Job is what to run. Orders of the reader's own function or file come as messages of their own. */
export interface Job {
  n: number;
  runs: number;
  shuffle: string;
  cyclic: boolean;
  paced?: boolean; // slowly at first, so that a reader sees the picture grow
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

function report(done: boolean, refused?: Report['refused'], rest = 150): void {
  if (!done && performance.now() - reported < rest) return;
  reported = performance.now();
  postMessage({measurement: meter!.measurement(), done, refused} satisfies Report);
}

async function run({n, runs, shuffle, cyclic, paced, token}: Job): Promise<void> {
  const counted = new Meter(n, cyclic);
  meter = counted;
  if (shuffle === 'own' || shuffle === 'file') return; // see Orders
  if (algorithms.includes(shuffle)) {
    while (counted.runs < runs) {
      const repeat = Math.min(runs - counted.runs, Math.floor(1_000_000 / n));
      await send(
        {token, body: {size: n, repeat, algorithm: shuffle}},
        (order) => counted.add(order),
        () => report(false),
      );
    }
  } else {
    const sorted = Uint8Array.from({length: n}, (_, i) => i),
      a = new Uint8Array(n),
      put = shuffle === 'fair' ? fair : wrong[shuffle]!,
      begin = performance.now();
    while (counted.runs < runs) {
      // The grain halves with each four times as many runs, so that the picture clears evenly.
      const due = paced ? 200 * 2 ** ((performance.now() - begin) / 450) - counted.runs : 2000;
      for (let i = Math.min(runs - counted.runs, due); i > 0; i--) {
        a.set(sorted);
        put(a);
        counted.add(a);
      }
      report(false, undefined, paced ? 0 : 150);
      if (paced) await new Promise((next) => setTimeout(next, 60));
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
