/** Sends the requests of the client that orval generates, which does not know where the service is. */
export async function request<T>(path: string, options: RequestInit): Promise<T> {
  const response = await fetch(new URL(path, process.argv[2]), options);
  const { status, headers } = response;
  return { status, headers, data: await response.json() } as T;
}
