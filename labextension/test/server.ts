import { ServerConnection } from '@jupyterlab/services';
import type { IFileStatus, IStep } from '../src/api/answers';

/** A server that answers from a table; what was asked of it is kept. */
export class FakeServer {
  readonly asked: { method: string; path: string; tag: string | null; body: unknown }[] = [];
  readonly sockets: FakeSocket[] = [];
  answer: (path: string) => { status?: number; body?: unknown; tag?: string } = () => ({
    status: 404
  });

  readonly settings: ServerConnection.ISettings;

  constructor() {
    const { sockets } = this;
    this.settings = ServerConnection.makeSettings({
      baseUrl: 'http://localhost:1/user/ana/',
      wsUrl: 'ws://localhost:1/user/ana/',
      appendToken: false,
      fetch: (request: RequestInfo | URL) => this.reply(request as Request),
      WebSocket: class extends FakeSocket {
        constructor(url: string) {
          super(url);
          sockets.push(this);
        }
      } as unknown as typeof WebSocket
    });
  }

  private async reply(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const path = url.pathname;
    const text = await request.text();
    this.asked.push({
      method: request.method,
      path,
      tag: request.headers.get('If-None-Match'),
      body: text ? JSON.parse(text) : null
    });
    const { status = 200, body, tag } = this.answer(path);
    const headers: HeadersInit = tag ? { ETag: tag } : {};
    return new Response(status === 304 ? null : JSON.stringify(body ?? null), { status, headers });
  }
}

export class FakeSocket {
  onopen?: () => void;
  onmessage?: (message: { data: string }) => void;
  onclose?: () => void;
  closed = false;

  constructor(readonly url: string) {}

  say(line: object): void {
    this.onmessage?.({ data: JSON.stringify(line) });
  }

  lose(): void {
    this.onclose?.();
  }

  close(): void {
    this.closed = true;
    this.onclose?.();
  }
}

/** A step as the server describes it. */
export function step(slug: string, more: Partial<IStep> = {}): IStep {
  return {
    slug,
    name: slug,
    kind: 'script',
    run: 'current',
    sIntegrity: 'passed',
    sQualitative: 'none',
    sQuantitative: 'none',
    sUnitTest: 'passed',
    sUser: 'untested',
    bUpstreamModified: false,
    listModifiedFiles: [],
    green: false,
    isolation: 'sandbox',
    sealed: false,
    enabled: true,
    since: { run: null, tests: null, user: null },
    reasons: [],
    notes: [],
    ...more
  };
}

/** A `file-status` answer. */
export function status(steps: IStep[], more: Partial<IFileStatus> = {}): IFileStatus {
  return {
    id: 'p',
    workflow: 'workflow.json',
    name: 'P',
    repo: '/p',
    warnings: [],
    steps,
    levels: [],
    current: null,
    ...more
  };
}
