/** How busy the event loop is, which all requests of the process share. */
import { performance } from 'node:perf_hooks';

/** Returns the part of the time since its call before for which the event loop was busy. */
export function measureLoop(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
