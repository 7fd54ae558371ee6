/** What the Manage Agents page may send; see `incoming.ts`. */
import * as z from 'zod'

export const agentsAct = z.object({
  action: z.enum([
    'install',
    'cancel',
    'remove',
    'newSession',
    'setDefault',
    'signIn',
    'signOut',
    'configure',
    'restart',
    'showLog',
    'check',
    'openRepository',
  ]),
  key: z.string().min(1).max(512),
})
