import type { ConversationHead } from '../../../bridge/conversation.ts'

/** Returns the command that signs in or out, if the agent has accounts. */
export function accountCommand(
  account: ConversationHead['account'],
): 'parley.signIn' | 'parley.signOut' | undefined {
  if (account?.signedIn) return 'parley.signOut'
  return account && !account.hasNoSignIn ? 'parley.signIn' : undefined
}
