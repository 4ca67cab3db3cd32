// Deals a round of doudizhu so that nothing, not a lost answer nor a crash of the table, deals it twice.
//
//   node doudizhu.ts [URL]
import {randomUUID} from 'node:crypto';
import {readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {Riffle} from 'riffle';

const riffle = new Riffle(process.argv[2] ?? 'http://localhost:8080', {token: process.env['RIFFLE_TOKEN']});
const reference = `doudizhu-${randomUUID()}`, round = join(tmpdir(), reference);

/** deal deals the round whose key is in the file. However often it is called, the cards are the same. */
const deal = () => riffle.post('/shuffle', {
  params: {header: {'Idempotency-Key': readFileSync(round, 'utf8')}},
  body: {deck: 'standard54', hands: 'doudizhu', reference},
});

// The key is stored before it is sent. A table that comes up again finds it and gets the same deal.
writeFileSync(round, randomUUID());
const {hands, rest, audit_id: first} = await deal();
const {audit_id: again} = await deal(); // after a crash
rmSync(round); // the round is over

hands.forEach((hand, i) => console.log(`player ${i + 1} has ${hand.join(' ')}`));
console.log(`left for the landlord: ${rest.join(' ')}`);
console.log(`dealt again after a crash, the record is the same: ${first === again}`);
