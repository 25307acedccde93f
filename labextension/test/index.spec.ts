import { expect, test } from 'vitest';
import plugins from '../src/index';

test('every plugin has a name of its own below the extension, and starts by itself', () => {
  const ids = plugins.map(plugin => plugin.id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every(id => id.startsWith('vaibify-lab:'))).toBe(true);
  expect(plugins.every(plugin => plugin.autoStart)).toBe(true);
});
