import * as z from 'zod'
import { agentsId } from './contract.ts'

/** The action of a card's button. The page sends it back unchanged. */
export const cardAction = z.discriminatedUnion('type', [
  z.object({
    type: z.enum([
      'retry',
      'restart',
      'openLog',
      'openTerminal',
      'manageTrust',
      'pickAgent',
      'dismiss',
      'back',
      'startNew',
      'continueInNew',
      'cancelSignIn',
      'abandonTurn',
      'giveUp',
      'switchBack',
      'takeOver',
      'fork',
      'showBackground',
    ]),
  }),
  z.object({ type: z.literal('signIn'), methodId: agentsId }),
  /** `registryId` is the agent's id in the registry */
  z.object({ type: z.literal('install'), registryId: z.string().max(512) }),
  /** `setting` is the name of a setting without `parley.`; without it, all settings are opened */
  z.object({ type: z.literal('openSettings'), setting: z.string().max(256).optional() }),
])
export type CardAction = z.infer<typeof cardAction>
