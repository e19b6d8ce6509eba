import * as z from 'zod';

/** A secret as the configuration names it: `env:NAME`, `file:PATH`, or the text itself. */
export const secretReferenceSchema = z.string().min(1);
