// With Trusted Types, the address of a worker has to come from a policy.

interface Policy {
  createScriptURL(url: string): string;
}

const policy = (
  globalThis as {trustedTypes?: {createPolicy(name: string, rules: Policy): Policy}}
).trustedTypes?.createPolicy('riffle-workers', {createScriptURL: (url) => url});

/** trusted returns an address that a page made itself, as the browser takes it for a worker's. */
export const trusted = (url: string): string => policy?.createScriptURL(url) ?? url;
