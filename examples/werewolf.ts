// Deals the roles of a werewolf game. Each player can prove the own role when the game is over, or before, and nobody else's.
//
//   node werewolf.ts [URL]
import {Riffle, verify} from 'riffle';

const riffle = new Riffle(process.argv[2] ?? 'http://localhost:8080', {token: process.env['RIFFLE_TOKEN']});
const players = ['Ann', 'Bob', 'Cyn', 'Dan', 'Eve', 'Fay', 'Gus', 'Hal', 'Ida', 'Jon', 'Kay', 'Lee'];

// The shoe seals each role by itself, in the log, before the first one is dealt. Its id is for the table alone.
const {shoe_id: id, audit_id: sealedBy} = await riffle.post('/shoes', {body: {deck: 'werewolf12', reference: 'village 7'}});

// To each player goes the own role, with what proves it: a salt, and a path to the root that is in the log.
const roles = new Map<string, string>();
for (const player of players) {
  const {cards} = await riffle.post('/shoes/{id}/draw', {params: {path: {id}, query: {proof: true}}, body: {count: 1}});
  roles.set(player, JSON.stringify(cards));
}

// To everybody goes the proof that the roles were sealed. It shows none of them, since the seed is held back.
const sealed = await riffle.get('/audits/{id}/proof', {params: {path: {id: sealedBy}}});
const key = await riffle.get('/log/key'); // players get it from elsewhere, once

// Whoever is asked shows the own role and what proves it. Another role cannot be proven.
for (const [player, cards] of roles) {
  const [role] = JSON.parse(cards) as [{code: string}];
  const {verdict} = await verify(sealed, {key, hand: cards});
  console.log(`${player} is ${role.code}: ${verdict}`);
}
const own = roles.get('Eve')!, other = own.includes('"seer"') ? 'hunter' : 'seer';
const {verdict} = await verify(sealed, {key, hand: own.replace(/"code":"\w+"/, `"code":"${other}"`)});
console.log(`Eve says that she is ${other}: ${verdict}`);
