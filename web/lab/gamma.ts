// The incomplete gamma function, from which the p-values come. Both tails are exact to about twelve
// digits, however small they are.

/** lnGamma is Stirling's series, from 15 on. */
function lnGamma(x: number): number {
  let product = 1;
  for (; x < 15; x++) product *= x;
  const s = 1 / (x * x),
    series = (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / x;
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + series - Math.log(product);
}

/**
 * tails returns the regularized incomplete gamma functions P(a, x) and Q(a, x), whose sum is 1: the
 * series of the first below a + 1, and the continued fraction of the second from there on, by
 * Lentz's method (Numerical Recipes, 6.2).
 */
export function tails(a: number, x: number): {lower: number; upper: number} {
  if (x <= 0) return {lower: 0, upper: 1};
  const scale = Math.exp(a * Math.log(x) - x - lnGamma(a));
  if (x < a + 1) {
    let term = 1 / a,
      sum = term;
    for (let k = 1; term > sum * 1e-17; k++) sum += term *= x / (a + k);
    return {lower: sum * scale, upper: 1 - sum * scale};
  }
  const tiny = 1e-300;
  let b = x + 1 - a,
    c = 1 / tiny,
    d = 1 / b,
    fraction = d;
  for (let i = 1, change = 0; Math.abs(change - 1) > 1e-15; i++) {
    const an = i * (a - i);
    b += 2;
    d = 1 / (an * d + b || tiny);
    c = b + an / c || tiny;
    change = c * d;
    fraction *= change;
  }
  return {lower: 1 - scale * fraction, upper: scale * fraction};
}
