/** algorithms are the service's algorithms, its default first. */
export const algorithms = ['fisher-yates', 'durstenfeld', 'inside-out', 'strike-out', 'sattolo'];

/** cyclic is the algorithm that makes single cycles only. */
export const cyclic = 'sattolo';
