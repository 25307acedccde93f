/** Points of a picture, four bytes each: red, green, blue, how opaque. */
export interface IPoints {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8ClampedArray;
}

/** Where two pictures differ. */
export interface IDifference {
  /** How many points differ, of how many. */
  readonly count: number;
  readonly total: number;
  /** The smallest rectangle that holds them all; null when none differs. */
  readonly box: { left: number; top: number; width: number; height: number } | null;
  /** The second picture, pale, with the points that differ marked. */
  readonly picture: Uint8ClampedArray;
}

const MARK = [214, 0, 108];
const PALE = 0.3;

/** Compare two pictures of one size, point by point, with no tolerance. */
export function difference(before: IPoints, after: IPoints): IDifference {
  const { width, height } = after;
  const [a, b] = [before.data, after.data].map(points => new Uint32Array(points.buffer));
  const picture = new Uint8ClampedArray(after.data.length);
  let count = 0;
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let at = 0; at < b.length; at++) {
    const differs = a[at] !== b[at];
    paint(picture, after.data, 4 * at, differs);
    if (differs) {
      const x = at % width;
      const y = (at - x) / width;
      count += 1;
      [left, right] = [Math.min(left, x), Math.max(right, x)];
      [top, bottom] = [Math.min(top, y), y];
    }
  }
  const box = count ? { left, top, width: right - left + 1, height: bottom - top + 1 } : null;
  return { count, total: b.length, box, picture };
}

function paint(
  picture: Uint8ClampedArray,
  after: Uint8ClampedArray,
  at: number,
  is: boolean
): void {
  const grey = 0.3 * after[at] + 0.6 * after[at + 1] + 0.1 * after[at + 2];
  for (let part = 0; part < 3; part++) {
    picture[at + part] = is ? MARK[part] : 255 - PALE * (255 - grey);
  }
  picture[at + 3] = is ? 255 : after[at + 3];
}
