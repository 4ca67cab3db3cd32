// What a request says about its answer beyond the contract, items of one's own, and members that a request cannot have.
import type {components} from './contract.js';

type Card = components['schemas']['Card'];
type Item = components['schemas']['Item'];
type ShuffleResult = components['schemas']['ShuffleResult'];

/** A value of one's own: an interface, too, which TypeScript does not take for a JSON object. */
export type Value = object | string | number | boolean | null;

/** A request whose body takes items of any type. */
export type Open<Given> = Given extends {body: infer Body} ? Omit<Given, 'body'> & {body: OpenBody<Body>} : Given;
type OpenBody<Body> = Body extends {items: Item[]}
  ? Omit<Body, 'items'> & {items: readonly Value[]}
  : Body extends {items?: infer Items}
    ? [Items] extends [undefined]
      ? Body
      : Omit<Body, 'items'> & {items?: readonly Value[]}
    : Body;

type Members<T> = T extends unknown ? keyof T : never;
type Known<Contract, Given> = Given & {[Name in Exclude<keyof Given, Members<Contract>>]: never};

/** A request whose body and query have no member that the contract does not know. */
export type Strict<Contract, Given> = Given &
  (Given extends {body: infer Body} ? {body: Known<NonNullable<Member<Contract, 'body'>>, Body>} : unknown) &
  (Given extends {params: {query: infer Query}}
    ? {params: {query: Known<NonNullable<Member<Member<Contract, 'params'>, 'query'>>, Query>}}
    : unknown);
type Member<T, Name extends string> = T extends {[name in Name]?: infer M} ? M : never;

/** What is shuffled by the body of POST /shuffle, or the query of GET /decks/{type}. */
type Shuffled<Asked> = Asked extends {items: readonly (infer T)[]}
  ? T
  : Asked extends {deck: string}
    ? string
    : Asked extends {size: number}
      ? number
      : Item;
type Dealt<Asked> = Asked extends {details: true} ? Card : 'details' extends keyof Asked ? string | Card : string;

/** The members that may have the order. */
type Orders<T> =
  | {items: T[]; hands?: never; rest?: never; shuffles?: never}
  | {items?: never; hands: T[][]; rest: T[]; shuffles?: never}
  | {items?: never; hands?: never; rest?: never; shuffles: T[][] | T[][][]};

/** The members that have the order. They follow from the request, unless it may be without the members that decide. */
type Order<Asked, T> = 'commitment_id' extends keyof Asked
  ? Orders<T>
  : undefined extends Asked[keyof Asked & ('repeat' | 'hands')]
    ? Orders<T>
    : 'repeat' extends keyof Asked
      ? {shuffles: ('hands' extends keyof Asked ? T[][] : T[])[]}
      : 'hands' extends keyof Asked
        ? {hands: T[][]; rest: T[]}
        : {items: T[]};
type Answer<Asked, T> = Omit<ShuffleResult, 'items' | 'hands' | 'rest' | 'shuffles'> & Order<Asked, T>;

/** The answer as the contract and the request tell it. openapi-fetch would drop the members that a variant has not. */
export type Returned<Path, Operation, Given> = [Path, Given] extends ['/shuffle', {body: infer Body}]
  ? Answer<Body, Shuffled<Body>>
  : Path extends '/decks/{type}'
    ? Given extends {params: {query: infer Query}}
      ? Answer<Query, Dealt<Query>>
      : Answer<unknown, string>
    : Operation extends {responses: {200: {content: infer Types}}}
      ? Types[keyof Types]
      : never;
