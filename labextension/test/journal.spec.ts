import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Journal } from '../src/api/journal';
import { FakeServer } from './server';

let server: FakeServer;
let lines: string[];
let open: boolean[];
let journal: Journal;

beforeEach(() => {
  vi.useFakeTimers();
  server = new FakeServer();
  lines = [];
  open = [];
  journal = new Journal(server.settings, 'projects/p/runs/r/journal', {
    line: line => lines.push(line.event),
    connected: is => open.push(is)
  });
});
afterEach(() => {
  journal.dispose();
  vi.useRealTimers();
});

test('a lost connection goes on after the last line that was seen', () => {
  const [first] = server.sockets;
  expect(first.url).toBe('ws://localhost:1/user/ana/vaibify/projects/p/runs/r/journal?after=0');
  first.onopen!();
  first.say({ event: 'hello', instance: 'x' });
  first.say({ event: 'runStarted', sequence: 3 });
  first.lose();
  expect(server.sockets).toHaveLength(1);
  vi.advanceTimersByTime(600);
  expect(server.sockets[1].url).toMatch(/after=3$/);
  expect(lines).toEqual(['runStarted']);
  expect(open).toEqual([true, false]);
});

test('at the end nothing is opened again', () => {
  const [first] = server.sockets;
  first.say({ event: 'runComplete', sequence: 9, outcome: 'passed' });
  expect(first.closed).toBe(true);
  vi.advanceTimersByTime(120_000);
  expect(server.sockets).toHaveLength(1);
});

test('silence is taken for a lost connection, a sign of life is not', () => {
  vi.advanceTimersByTime(25_000);
  server.sockets[0].say({ event: 'alive' });
  vi.advanceTimersByTime(25_000);
  expect(server.sockets).toHaveLength(1);
  vi.advanceTimersByTime(6_000);
  expect(server.sockets).toHaveLength(2);
  expect(server.sockets[0].closed).toBe(true);
});

test('a server that stays away is asked less and less often', () => {
  for (let minute = 0; minute < 5; minute += 1) {
    vi.advanceTimersByTime(60_000);
    server.sockets.at(-1)!.lose();
  }
  expect(server.sockets.length).toBeLessThan(20);
});
