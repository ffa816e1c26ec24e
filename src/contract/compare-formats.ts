/** The order of days, times and instants, for `formatMinimum` and its like. All digits of a second count. */

/** The order of two days. */
export function compareDays(one: string, other: string): number {
  return order(one, other);
}

/** The order of two times on the same day of UTC, or of two local ones. One with an offset and one without have no order, and neither has a leap second. */
export function compareTimes(one: string, other: string): number | undefined {
  return comparePoints(pointOf(`2000-01-01T${one}`), pointOf(`2000-01-01T${other}`), false);
}

/** The order of two instants, or of two local times with a day. A leap second is the second after it. */
export function compareInstants(one: string, other: string): number | undefined {
  return comparePoints(pointOf(one), pointOf(other), true);
}

interface Point {
  /** Since 1970; of UTC if there is an offset. */
  seconds: number;
  /** The digits after the point. */
  fraction: string;
  isLocal: boolean;
  isLeapSecond: boolean;
}

function pointOf(text: string): Point {
  const [, day = '', minute = '', second = '', fraction = '', zone] =
    /^(.{10})[Tt ](\d\d:\d\d):(\d\d)(?:\.(\d+))?([Zz]|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  const [, sign = '+', hours = 0, minutes = 0] = /^([+-])(\d\d):(\d\d)$/.exec(zone ?? '') ?? [];
  const offset = (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -60 : 60);
  const seconds = Date.parse(`${day}T${minute}:00Z`) / 1_000 + Number(second) - offset;
  return { seconds, fraction: fraction.replace(/0+$/, ''), isLocal: zone === undefined, isLeapSecond: second === '60' };
}

function comparePoints(one: Point, other: Point, mayLeap: boolean): number | undefined {
  if (one.isLocal !== other.isLocal || (!mayLeap && (one.isLeapSecond || other.isLeapSecond))) return undefined;
  return one.seconds === other.seconds ? order(one.fraction, other.fraction) : one.seconds - other.seconds;
}

function order(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
