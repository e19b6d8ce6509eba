import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Registry } from 'prom-client';
import { addCounter, addGauge } from './metric-family.js';

/** How often the event loop is looked at, in milliseconds. */
const RESOLUTION_MS = 10;

/**
 * The figures of the process under their usual names. Those of `prom-client` itself would go on observing the process
 * after their hub has gone, and nothing ends that.
 * @returns ends what observes
 */
export function addProcessMetrics(registry: Registry): Disposable {
  addCounter(registry, 'process_cpu_user_seconds_total', 'User CPU time, in seconds.', () => cpu('user'));
  addCounter(registry, 'process_cpu_system_seconds_total', 'System CPU time, in seconds.', () =>
    cpu('system'),
  );
  addCounter(
    registry,
    'process_cpu_seconds_total',
    'CPU time, in seconds.',
    () => cpu('user') + cpu('system'),
  );
  addGauge(registry, 'process_start_time_seconds', 'When the process started, in seconds since 1970.', () =>
    Math.round(Date.now() / 1_000 - process.uptime()),
  );
  addGauge(registry, 'process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  addGauge(registry, 'nodejs_heap_size_total_bytes', 'Size of the heap.', () => heap('heapTotal'));
  addGauge(registry, 'nodejs_heap_size_used_bytes', 'Used part of the heap.', () => heap('heapUsed'));
  addGauge(registry, 'nodejs_external_memory_bytes', 'Memory of buffers and the like.', () =>
    heap('external'),
  );
  return addEventLoopLag(registry);
}

function cpu(kind: 'user' | 'system'): number {
  return process.cpuUsage()[kind] / 1e6;
}

function heap(kind: 'heapTotal' | 'heapUsed' | 'external'): number {
  return process.memoryUsage()[kind];
}

/** How late the event loop is, since the last scrape; as usual, with the time between two looks in it. */
function addEventLoopLag(registry: Registry): Disposable {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  const add = (kind: string, read: () => number): void =>
    addGauge(
      registry,
      `nodejs_eventloop_lag_${kind}_seconds`,
      `Time between looks ${RESOLUTION_MS} ms apart since the last scrape, in seconds: ${kind}.`,
      () => (delays.count === 0 ? 0 : read() / 1e9),
    );
  add('mean', () => delays.mean);
  add('p50', () => delays.percentile(50));
  add('p99', () => delays.percentile(99));
  // the last one that is read: the next scrape begins anew
  add('max', () => {
    const { max } = delays;
    delays.reset();
    return max;
  });
  return { [Symbol.dispose]: () => void delays.disable() };
}
