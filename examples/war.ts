// Plays the card game war with the requests of deckofcardsapi.com. To move a game from there, change the base URL: each move is
// then recorded, and the deal can be proven. Start the service with --deckofcards.
//
//   node war.ts [URL]
const base = `${process.argv[2] ?? 'http://localhost:8080'}/api/deck`; // instead of https://deckofcardsapi.com/api/deck

interface Card {code: string; value: string; suit: string}
interface Answer {success: boolean; deck_id: string; remaining: number; cards: Card[]; piles: Record<string, {remaining: number}>; error?: string}

async function ask(path: string): Promise<Answer> {
  const answer = await (await fetch(`${base}/${path}`)).json() as Answer;
  if (!answer.success) throw new Error(answer.error);
  return answer;
}

const ranks = ['2', '3', '4', '5', '6', '7', '8', '9', '10', 'JACK', 'QUEEN', 'KING', 'ACE'];
const codes = (cards: Card[]) => cards.map(({code}) => code).join();
const {deck_id: deck} = await ask('new/shuffle/?deck_count=1');

// Deal 26 cards to each player, as piles.
for (const player of ['ann', 'bob'])
  await ask(`${deck}/pile/${player}/add/?cards=${codes((await ask(`${deck}/draw/?count=26`)).cards)}`);

// Each turns a card over, and the higher one takes both. If they are equal they stay and go to the winner of the next turn.
let stakes: Card[] = [], piles: Answer['piles'] = {};
for (let turn = 1; turn <= 20; turn++) {
  const turned: Card[] = [];
  for (const player of ['ann', 'bob']) turned.push((await ask(`${deck}/pile/${player}/draw/bottom/?count=1`)).cards[0]!);
  stakes.push(...turned);
  const [ann, bob] = turned.map(({value}) => ranks.indexOf(value)) as [number, number];
  if (ann === bob) continue;
  ({piles} = await ask(`${deck}/pile/${ann > bob ? 'ann' : 'bob'}/add/?cards=${codes(stakes)}`));
  stakes = [];
}
console.log(`after 20 turns Ann has ${piles['ann']!.remaining} cards and Bob ${piles['bob']!.remaining}, and ${stakes.length} lie on the table`);
