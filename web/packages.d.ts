declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  export default function SwaggerUI(options: Record<string, unknown>): void;
}

declare module 'jstat' {
  /** jStat has the special functions that p-values take. */
  export const jStat: {lowRegGamma(a: number, x: number): number; erfc(x: number): number};
}
