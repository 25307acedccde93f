import { describe, expect, it } from 'vitest';
import { difference, type IPoints } from '../src/compare/difference';

function picture(width: number, height: number, ...black: [number, number][]): IPoints {
  const data = new Uint8ClampedArray(4 * width * height).fill(255);
  black.forEach(([x, y]) => data.fill(0, 4 * (y * width + x), 4 * (y * width + x) + 3));
  return { width, height, data };
}

describe('the difference of two pictures', () => {
  it('is nothing between equal ones', () => {
    const found = difference(picture(3, 2, [1, 1]), picture(3, 2, [1, 1]));
    expect([found.count, found.total, found.box]).toEqual([0, 6, null]);
  });

  it('counts points and holds them in one rectangle', () => {
    const found = difference(picture(5, 4, [0, 0], [1, 2]), picture(5, 4, [0, 0], [3, 1]));
    expect([found.count, found.total]).toEqual([2, 20]);
    expect(found.box).toEqual({ left: 1, top: 1, width: 3, height: 2 });
    expect([...found.picture.slice(4 * 8, 4 * 8 + 4)]).toEqual([214, 0, 108, 255]);
  });

  it('sees a point that is only less opaque', () => {
    const after = picture(2, 1);
    after.data[7] = 254;
    expect(difference(picture(2, 1), after).box).toEqual({ left: 1, top: 0, width: 1, height: 1 });
  });
});
