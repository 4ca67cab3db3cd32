// Opens the seed of a commitment with a time lock: docs/spec.md, "Time locks". A page loads it when a reader does.
import {bls12_381 as curve} from '@noble/curves/bls12-381.js';
import {sha256} from '@noble/hashes/sha2.js';
import {hmac} from '@noble/hashes/hmac.js';
import {bytesToHex, concatBytes, hexToBytes, utf8ToBytes} from '@noble/hashes/utils.js';
import {numberToBytesBE} from '@noble/curves/utils.js';
import {Decrypter, type Identity, type Stanza} from 'age-encryption';
import {QUICKNET, statementOf} from '../verifiers/riffle.mjs';
import type {Shown} from './check';

const mostRounds = 1024, // of a book that a service makes
  keySize = 16,
  pointSize = 96;

type Tower = bigint | {c0: Tower; c1: Tower; c2?: Tower};

/** coordinates are the bytes of an element of a field, the highest coordinate first. */
const coordinates = (f: Tower): Uint8Array =>
  typeof f === 'bigint'
    ? numberToBytesBE(f, 48)
    : concatBytes(...[f.c2, f.c1, f.c0].filter((c) => c !== undefined).map(coordinates));

const xor = (a: Uint8Array, b: Uint8Array) => a.map((byte, i) => byte ^ b[i]!);

/** exponent returns the first hash of a counter and the secrets that is below the order of the groups. */
function exponent(sigma: Uint8Array, key: Uint8Array): bigint {
  const secret = sha256(concatBytes(utf8ToBytes('IBE-H3'), sigma, key));
  for (let i = 1; ; i++) {
    const hash = sha256(concatBytes(Uint8Array.of(i & 255, i >> 8), secret));
    hash[0]! >>= 1;
    const r = BigInt(`0x${bytesToHex(hash)}`);
    if (r < curve.fields.Fr.ORDER) return r;
  }
}

/** keyIn decrypts the key of a file of age with the signature of a round. */
function keyIn(stanzas: Stanza[], round: string, signature: string): Uint8Array | null {
  const [{args, body}] = stanzas as [Stanza];
  if (
    stanzas.length !== 1 ||
    String(args) !== `tlock,${round},${QUICKNET.chain}` ||
    body.length !== pointSize + 2 * keySize
  )
    return null;
  const u = curve.G2.Point.fromBytes(body.slice(0, pointSize)),
    [v, w] = [body.slice(pointSize, -keySize), body.slice(-keySize)];
  const shared = curve.pairing(curve.G1.Point.fromHex(signature), u) as unknown as Tower;
  const sigma = xor(v, sha256(concatBytes(utf8ToBytes('IBE-H2'), coordinates(shared)))),
    key = xor(w, sha256(concatBytes(utf8ToBytes('IBE-H4'), sigma)));
  return curve.G2.Point.BASE.multiply(exponent(sigma, key)).equals(u) ? key : null;
}

const digestOf = (record: Sealed, seed: string) => sha256(utf8ToBytes(statementOf(record, seed)));

/** commitmentOf returns what a seed commits to with the statement of a record, both in hex. */
export const commitmentOf = (record: Sealed, seed: string): string => bytesToHex(digestOf(record, seed));

/** roundSeed returns the seed of a round of a book with this seed, both in hex. */
export const roundSeed = (seed: string, round: number): string =>
  seed.replace(/.{64}/g, (block) =>
    bytesToHex(
      hmac(sha256, hexToBytes(block), concatBytes(utf8ToBytes('riffle/1 round\n'), numberToBytesBE(round, 8))),
    ),
  );

/** root returns the root of a Merkle tree as in RFC 6962. */
function root(leaves: Uint8Array[]): Uint8Array {
  if (leaves.length === 1) return sha256(concatBytes(Uint8Array.of(0), leaves[0]!));
  let half = 1;
  while (2 * half < leaves.length) half *= 2;
  return sha256(concatBytes(Uint8Array.of(1), root(leaves.slice(0, half)), root(leaves.slice(half))));
}

/** Sealed is a record of a commitment with a time lock. */
export type Sealed = Shown & {opens_at: string; sealed_seed: string; commitment: string};

/**
 * open returns the seed of a commitment, in hex, or undefined if the operator sealed something else. The signature is
 * that of its round.
 */
export async function open(record: Sealed, signature: string): Promise<string | undefined> {
  const decrypter = new Decrypter(),
    identity: Identity = {unwrapFileKey: (stanzas) => keyIn(stanzas, record.opens_at.split(' ')[1]!, signature)};
  decrypter.addIdentity(identity);
  try {
    if ((record.count ?? 0) > mostRounds) return undefined;
    const sealed = Uint8Array.from(atob(record.sealed_seed), (character) => character.charCodeAt(0)),
      seed = bytesToHex(await decrypter.decrypt(sealed)),
      blocks = seed.match(/.{1,64}/g) ?? [];
    if (!/^(.{64}){1,213}$/.test(seed) || new Set(blocks).size < blocks.length) return undefined; // no seed of riffle/1
    const committed = record.count
      ? root(Array.from({length: record.count}, (_, i) => digestOf(record, roundSeed(seed, i + 1))))
      : digestOf(record, seed);
    return bytesToHex(committed) === record.commitment ? seed : undefined;
  } catch {
    return undefined; // no file of age, or none that this signature opens
  }
}
