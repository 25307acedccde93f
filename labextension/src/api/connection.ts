import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import type { IFault } from './answers';

export const NAMESPACE = 'vaibify';

/** An answer that says no: what, where, what to do. */
export class Refusal extends Error implements IFault {
  readonly code: string;
  readonly where: string | null;
  readonly action: string | null;

  constructor(
    readonly status: number,
    fault: IFault,
    readonly body: Record<string, unknown> = {}
  ) {
    super(fault.text);
    this.code = fault.code;
    this.where = fault.where ?? null;
    this.action = fault.action ?? null;
  }

  get text(): string {
    return this.message;
  }
}

/** A refusal of anything that was thrown. */
export function asRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) {
    return error;
  }
  const text = error instanceof Error ? error.message : String(error);
  return new Refusal(0, { code: 'no-answer', text });
}

/** An answer: its JSON, or that nothing changed since the one with that tag. */
export type Answer<T> = { changed: true; value: T; tag: string | null } | { changed: false };

/** Ask an address of the server extension. */
export async function ask<T>(
  settings: ServerConnection.ISettings,
  path: string,
  init: RequestInit = {}
): Promise<Answer<T>> {
  const url = URLExt.join(settings.baseUrl, NAMESPACE, path);
  const response = await ServerConnection.makeRequest(url, init, settings);
  if (response.status === 304) {
    return { changed: false };
  }
  const text = await response.text();
  if (!response.ok) {
    throw refusal(response, text);
  }
  const value = (text ? JSON.parse(text) : null) as T;
  return { changed: true, value, tag: response.headers.get('ETag') };
}

/** Ask for bytes; their hash comes as the answer's tag. */
export async function askBytes(
  settings: ServerConnection.ISettings,
  path: string
): Promise<{ data: Blob; sha256: string }> {
  const url = URLExt.join(settings.baseUrl, NAMESPACE, path);
  const response = await ServerConnection.makeRequest(url, {}, settings);
  if (!response.ok) {
    throw refusal(response, await response.text());
  }
  const [sha256 = ''] = /[0-9a-f]{64}/.exec(response.headers.get('ETag') ?? '') ?? [];
  return { data: await response.blob(), sha256 };
}

/** The address of a websocket; the token is in it only where cookies do not reach. */
export function socketAddress(
  settings: ServerConnection.ISettings,
  path: string,
  query: Record<string, string>
): string {
  const all = settings.appendToken && settings.token ? { ...query, token: settings.token } : query;
  return URLExt.join(settings.wsUrl, NAMESPACE, path) + URLExt.objectToQueryString(all);
}

function refusal(response: Response, text: string): Refusal {
  let body: Record<string, unknown> = {};
  try {
    body = JSON.parse(text) as Record<string, unknown>;
  } catch {
    // a proxy's page, perhaps: the status has to do
  }
  const fault = body.error as IFault | undefined;
  const status = `${response.status} ${response.statusText}`.trim();
  return new Refusal(
    response.status,
    fault?.text
      ? fault
      : { code: `http-${response.status}`, text: `the server answered ${status}` },
    body
  );
}
