import type { ConversationHead } from '../../../bridge/conversation.ts'

/** The command that changes the account, if the agent has one. */
export function accountCommand(
  account: ConversationHead['account'],
): 'parley.signIn' | 'parley.signOut' | undefined {
  if (account?.signedIn) return 'parley.signOut'
  return account && !account.hasNoSignIn ? 'parley.signIn' : undefined
}
