/** Loaded into every measured process before its program: answers questions about its CPU time and its heap. */
process.on('message', (question) => {
  if (question === 'cpu') process.send?.({ cpu: process.cpuUsage() });
  if (question !== 'heap') return;
  for (let round = 0; round < 4; round += 1) globalThis.gc?.();
  process.send?.({ heap: process.memoryUsage() });
});
process.on('disconnect', () => process.exit(0));
