import * as z from 'zod'

/** A person writes it; a regular expression of this length is none that a person wrote. */
const text = z.string().max(10_000)

export const findStart = z.object({
  key: z.string().min(1).max(256),
  id: z.number().int().nonnegative(),
  query: z.object({ text, matchCase: z.boolean(), wholeWord: z.boolean(), regex: z.boolean() }),
})
