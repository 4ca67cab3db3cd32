// The Merkle tree of a log as its tiles show it (RFC 6962, C2SP tlog-tiles), and its checkpoints
// (C2SP tlog-checkpoint). Nothing that a tile says is believed: it counts only once it leads to a
// root that the log's key has signed.
import {sha256} from '@noble/hashes/sha2.js';
import {bytesToHex, concatBytes} from '@noble/hashes/utils.js';

/** A Checkpoint is a tree size and root that the log's key has signed. */
export interface Checkpoint {
  origin: string;
  size: number;
  root: string;
  text: string;
}

/** A Node is the hash of the records from start on, a power of two of them. */
export interface Node {
  start: number;
  size: number;
  hash: Uint8Array;
}

const base64 = (text: string) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
const leaf = Uint8Array.of(0),
  inner = Uint8Array.of(1);

/** leafHash returns the hash of a record. */
export const leafHash = (record: Uint8Array): Uint8Array => sha256(concatBytes(leaf, record));

/** join returns the hash of a node with these children. */
export const join = (left: Uint8Array, right: Uint8Array): Uint8Array => sha256(concatBytes(inner, left, right));

/**
 * openCheckpoint returns a checkpoint if the key has signed it, and throws otherwise. The key is
 * like origin+id+base64.
 */
export async function openCheckpoint(text: string, key: string): Promise<Checkpoint> {
  const [, name, id, encoded] = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(key.trim()) ?? [];
  const parts = /^(([^\n]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n)\n((?:— \S+ \S+\n)+)$/.exec(text);
  if (!parts || !name || !encoded) throw new Error('the checkpoint or the key does not have its form');
  const [, body, origin, size, root, signatures] = parts as unknown as string[];
  const verifier = await crypto.subtle.importKey('raw', base64(encoded).slice(1), 'Ed25519', false, ['verify']);
  for (const [, by, signature] of signatures!.matchAll(/— (\S+) (\S+)\n/g)) {
    const bytes = base64(signature!);
    if (by !== name || bytesToHex(bytes.slice(0, 4)) !== id) continue;
    if (
      origin === name &&
      (await crypto.subtle.verify('Ed25519', verifier, bytes.slice(4), new TextEncoder().encode(body!)))
    ) {
      return {origin: origin!, size: Number(size), root: bytesToHex(base64(root!)), text};
    }
  }
  throw new Error('the key has not signed this checkpoint');
}

/**
 * cosigners returns who cosigned a checkpoint and when, in milliseconds since 1970, as its lines say (C2SP
 * tlog-cosignature, Ed25519 or ML-DSA-44). They are not verified: which witnesses count is for a policy.
 */
export const cosigners = ({text}: Checkpoint): {name: string; time: number}[] =>
  [...text.matchAll(/^— (\S+) (\S+)$/gm)].flatMap(([, name, signature]) => {
    const bytes = base64(signature!);
    if (bytes.length !== 4 + 8 + 64 && bytes.length !== 4 + 8 + 2420) return []; // the log's own has no time
    return [{name: name!, time: 1000 * Number(new DataView(bytes.buffer).getBigUint64(4))}];
  });

type Bytes = Uint8Array<ArrayBuffer>;

/** A Reader fetches the bytes of a tile, such as tile/0/x001/234. */
export type Reader = (path: string) => Promise<Bytes>;

/** Tiles reads the tree of a size. */
export class Tiles {
  #cache = new Map<string, Promise<Bytes>>();
  #bundles = new Map<number, Promise<Bytes[]>>();
  constructor(
    readonly size: number,
    private read: Reader,
  ) {}

  /** node returns the node of so many records, a power of two, from start on. */
  async node(start: number, size: number): Promise<Node> {
    let level = 0,
      below = 1;
    for (; below * 256 <= size; below *= 256) level++;
    const first = start / below,
      tile = Math.floor(first / 256);
    const bytes = await this.#get(String(level), tile, Math.floor(this.size / below));
    let hashes: Uint8Array[] = Array.from({length: size / below}, (_, i) =>
      bytes.slice(32 * ((first % 256) + i), 32 * ((first % 256) + i + 1)),
    );
    while (hashes.length > 1)
      hashes = Array.from({length: hashes.length / 2}, (_, i) => join(hashes[2 * i]!, hashes[2 * i + 1]!));
    return {start, size, hash: hashes[0]!};
  }

  /** record returns the text of a record. */
  async record(index: number): Promise<Bytes> {
    return (await this.bundle(Math.floor(index / 256)))[index % 256]!;
  }

  /** bundle returns the texts of the records from 256 * index on, which are fetched together. */
  bundle(index: number): Promise<Bytes[]> {
    const known = this.#bundles.get(index) ?? this.#get('entries', index, this.size).then(split);
    this.#bundles.set(index, known);
    known.catch(() => this.#bundles.delete(index));
    return known;
  }

  /** get returns a tile of a level that has so many hashes or records. */
  #get(level: string, index: number, all: number): Promise<Bytes> {
    const digits = String(index),
      groups = digits.padStart(3 * Math.ceil(digits.length / 3), '0').match(/.{3}/g)!;
    const width = Math.min(256, all - 256 * index),
      names = groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group));
    const path = `tile/${level}/${names.join('/')}${width < 256 ? `.p/${width}` : ''}`,
      known = this.#cache.get(path) ?? this.read(path);
    this.#cache.set(path, known);
    known.catch(() => this.#cache.delete(path));
    return known;
  }
}

/** split returns the records of a bundle. */
function split(bytes: Bytes): Bytes[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    records = [];
  for (let at = 0; at < bytes.length; at += 2 + view.getUint16(at))
    records.push(bytes.subarray(at + 2, at + 2 + view.getUint16(at)));
  return records;
}

/** cover returns the fewest complete subtrees that the records from start to end have. */
export function cover(start: number, end: number): {start: number; size: number}[] {
  const found = [];
  for (let at = start; at < end; ) {
    let size = 1;
    while (at % (2 * size) === 0 && at + 2 * size <= end) size *= 2;
    found.push({start: at, size});
    at += size;
  }
  return found;
}

/** rootOf returns the root over nodes that lie side by side. */
export function rootOf(nodes: Node[]): Uint8Array {
  if (nodes.length === 0) return sha256(new Uint8Array());
  if (nodes.length === 1) return nodes[0]!.hash;
  const from = nodes[0]!.start,
    last = nodes.at(-1)!,
    half = halfOf(last.start + last.size - from);
  const split = nodes.findIndex((node) => node.start >= from + half);
  return join(rootOf(nodes.slice(0, split)), rootOf(nodes.slice(split)));
}

/** halfOf returns where RFC 6962 splits so many records: the largest power of two below. */
function halfOf(size: number): number {
  let half = 1;
  while (2 * half < size) half *= 2;
  return half;
}

/** A Relation compares a later checkpoint with an earlier one of the same key. All but grew are reasons for alarm. */
export type Relation = 'grew' | 'shorter' | 'twoRoots' | 'rewritten' | 'broken';

/** relate reports whether the tree of a later checkpoint, which has these tiles, extends an earlier one's. */
export async function relate(tiles: Tiles, earlier: Checkpoint, later: Checkpoint): Promise<Relation> {
  if (later.size < earlier.size) return 'shorter';
  if (later.size === earlier.size) return later.root === earlier.root ? 'grew' : 'twoRoots';
  const read = (parts: {start: number; size: number}[]) =>
    Promise.all(parts.map((part) => tiles.node(part.start, part.size)));
  const before = await read(cover(0, earlier.size)),
    after = await read(cover(earlier.size, later.size));
  if (bytesToHex(rootOf([...before, ...after])) !== later.root) return 'broken';
  return bytesToHex(rootOf(before)) === earlier.root ? 'grew' : 'rewritten';
}

/** A Branch is a step from a record to the root: the node on the path, and its sibling, which a proof has. */
export interface Branch {
  start: number;
  size: number;
  sibling: Node;
}

/** pathOf returns the steps from a record to the root, the record's first. */
export async function pathOf(tiles: Tiles, index: number): Promise<Branch[]> {
  const branches: Branch[] = [];
  for (let start = 0, end = tiles.size; end - start > 1; ) {
    const middle = start + halfOf(end - start),
      left = index < middle;
    const [from, to] = left ? [start, middle] : [middle, end],
      [otherFrom, otherTo] = left ? [middle, end] : [start, middle];
    const hash = rootOf(await Promise.all(cover(otherFrom, otherTo).map((part) => tiles.node(part.start, part.size))));
    branches.unshift({start: from, size: to - from, sibling: {start: otherFrom, size: otherTo - otherFrom, hash}});
    [start, end] = [from, to];
  }
  return branches;
}
