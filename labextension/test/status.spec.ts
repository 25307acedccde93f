import { afterEach, beforeEach, expect, test } from 'vitest';
import { Api } from '../src/api/vaibify';
import { Status } from '../src/model/status';
import { FakeServer, status, step } from './server';

let server: FakeServer;
let shown: Status;
let told: number;

beforeEach(() => {
  server = new FakeServer();
  shown = new Status(new Api(server.settings));
  told = 0;
  shown.value.changed.connect(() => (told += 1));
});
afterEach(() => shown.dispose());

async function look(answer: object): Promise<void> {
  server.answer = () => answer;
  await shown.again();
}

test('an unchanged project is asked for with its tag, and tells nobody', async () => {
  server.answer = () => ({ body: status([step('a')]), tag: '"1"' });
  shown.open('p');
  await shown.again();
  const before = [told, shown.value.value];
  await look({ status: 304 });
  expect([told, shown.value.value]).toEqual(before);
  expect(server.asked.at(-1)).toMatchObject({
    method: 'GET',
    path: '/user/ana/vaibify/projects/p/file-status',
    tag: '"1"'
  });
});

test('of an answer only what is another is another object', async () => {
  shown.open('p');
  await look({ body: status([step('a'), step('b')]) });
  const [a, b] = shown.value.value!.steps;
  await look({ body: status([step('a'), step('b', { run: 'stale' })]) });
  expect(shown.value.value!.steps[0]).toBe(a);
  expect(shown.value.value!.steps[1]).not.toBe(b);
});

test('a refusal is shown beside what was last known, and goes with the next answer', async () => {
  shown.open('p');
  await look({ body: status([step('a')]) });
  const fault = { code: 'invalid-file', text: 'workflow.json: 100% wrong', where: 'workflow.json' };
  await look({ status: 422, body: { error: fault, message: '' } });
  expect(shown.fault.value).toMatchObject({ ...fault, status: 422 });
  expect(shown.value.value!.steps).toHaveLength(1);
  await look({ body: status([]) });
  expect(shown.fault.value).toBeNull();
});

test('another project forgets what the one before it said', async () => {
  shown.open('p');
  await look({ body: status([step('a')]), tag: '"1"' });
  server.answer = () => ({ body: status([], { id: 'q' }) });
  shown.open('q');
  expect(shown.value.value).toBeNull();
  await shown.again();
  expect(server.asked.at(-1)!.tag).toBeNull();
  expect(shown.value.value!.id).toBe('q');
});
