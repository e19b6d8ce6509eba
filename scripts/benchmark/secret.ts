/** The secret of the measured hub, known to the process that issues the tokens of its sessions. */
export const HUB_SECRET = 'a secret of the benchmark, long enough';
