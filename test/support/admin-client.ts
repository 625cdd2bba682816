/** An answer of `/admin/v1`: its status and its envelope. */
export interface AdminAnswer<T = Record<string, unknown>> {
  status: number;
  code: string;
  message: string;
  data: T;
  details?: { field: string; message: string }[];
}

/** Calls `/admin/v1` of a server with a key of one's choice. */
export class AdminClient {
  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  withKey(key: string): AdminClient {
    return new AdminClient(this.url, key);
  }

  async call<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<AdminAnswer<T>> {
    const answer = await this.fetch(method, path, body, headers);
    return { status: answer.status, ...((await answer.json()) as Omit<AdminAnswer<T>, 'status'>) };
  }

  get<T = Record<string, unknown>>(path: string): Promise<AdminAnswer<T>> {
    return this.call<T>('GET', path);
  }

  post<T = Record<string, unknown>>(path: string, body: unknown): Promise<AdminAnswer<T>> {
    return this.call<T>('POST', path, body);
  }

  fetch(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return fetch(`${this.url}/admin/v1${path}`, {
      method,
      headers: {
        'x-admin-key': this.key,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  }
}
