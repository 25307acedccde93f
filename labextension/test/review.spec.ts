import { beforeEach, expect, test } from 'vitest';
import { Api } from '../src/api/vaibify';
import { Jobs } from '../src/model/jobs';
import { Review } from '../src/model/review';
import { FakeServer } from './server';

const RERUN = { steps: ['fit'], passed: true, outputs: [{ path: 'a', verdict: 'identical' }] };

let server: FakeServer;
let jobs: Jobs;
let review: Review;
let engine: string;
let known: Record<string, object[]>;

beforeEach(() => {
  server = new FakeServer();
  engine = 'missing';
  known = { reproductions: [], reruns: [] };
  server.answer = path => {
    const what = path.split('/').pop() ?? '';
    const body =
      what === 'image' ? { engine: { state: engine } } : { jobs: known[what], job: `new-${what}` };
    return { body };
  };
  const api = new Api(server.settings);
  jobs = new Jobs(api);
  review = new Review(api, jobs);
});

function posted(): object[] {
  return server.asked.filter(one => one.method === 'POST').map(one => [one.path, one.body]);
}

async function begun(): Promise<void> {
  void review.begin('p');
  await expect.poll(() => server.sockets.length).toBeGreaterThan(0);
}

test.each([
  ['missing', []],
  ['ok', [2, 3]]
])('with the engine %s everything is checked at once but tiers %j', async (state, skip) => {
  engine = state;
  await begun();
  expect(posted()).toEqual([['/user/ana/vaibify/projects/p/reproductions', { skip }]]);
});

test('what this server checked already is shown and not checked again', async () => {
  known.reproductions = [{ job: 'old', state: 'done' }];
  known.reruns = [{ job: 'r', state: 'done', result: RERUN }];
  await begun();
  expect(posted()).toEqual([]);
  expect(server.sockets[0].url).toContain('/jobs/old/journal');
  expect(review.reruns.value.get('fit')).toEqual(RERUN);
});

test('a check that broke down is made again', async () => {
  known.reproductions = [{ job: 'old', state: 'failed' }];
  await begun();
  expect(posted()).toHaveLength(1);
});

test('a rerun that cannot begin says why, and leaves what was known', async () => {
  known.reruns = [{ job: 'r', state: 'done', result: RERUN }];
  await begun();
  const fault = { code: 'job-in-progress', text: 'a job goes on' };
  server.answer = () => ({ status: 409, body: { error: fault } });
  await review.rerun('p', 'fit');
  expect(review.fault.value).toMatchObject(fault);
  expect(review.reruns.value.size).toBe(1);
});
