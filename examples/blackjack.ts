// Deals rounds of blackjack from a shoe of six decks until the cut card comes out, then closes the shoe and counts the records
// that prove every card.
//
//   node blackjack.ts [URL]
import {Riffle} from 'riffle';

const riffle = new Riffle(process.argv[2] ?? 'http://localhost:8080', {token: process.env['RIFFLE_TOKEN']});

// The cut card follows 220 to 250 cards; the order's seed decides.
const shoe = await riffle.post('/shoes', {body: {deck: 'standard52', decks: 6, cut: [220, 250]}});
const params = {path: {id: shoe.shoe_id}};
console.log(`${shoe.size} cards, and the cut card behind ${shoe.cut} of them`);

await riffle.post('/shoes/{id}/draw', {params, body: {to: 'burnt'}});
for (let round = 1, last = false; !last; round++) { // the round in which the cut card comes out is played to its end
  const {cards, cut_reached} = await riffle.post('/shoes/{id}/draw', {params, body: {count: 6}});
  console.log(`round ${String(round).padStart(2)}: ${cards.map(({code}) => code).join(' ')}`);
  last = cut_reached!;
}

await riffle.post('/shoes/{id}/close', {params, body: {}});
const proof = await riffle.get('/shoes/{id}/proof', {params}); // which riffle verify checks
console.log('records that prove every card:', proof.shoe.length);
