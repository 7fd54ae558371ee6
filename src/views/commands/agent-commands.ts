import type * as vscode from 'vscode'
import { DisposableStore } from '../../common/disposable.ts'
import { type ProviderCommandParts, registerProviderCommand } from '../agents/configure-providers.ts'
import { registerSessionCommands, type SessionCommandParts } from './session-commands.ts'
import { registerSignInCommands, type SignInCommandParts } from './sign-in-commands.ts'

export type AgentCommandParts = SessionCommandParts & ProviderCommandParts & SignInCommandParts

/** The commands for one session, and for what an agent is signed in to and works with. */
export function registerAgentCommands(parts: AgentCommandParts): vscode.Disposable {
  const registered = new DisposableStore()
  registered.add(registerSessionCommands(parts))
  registered.add(registerProviderCommand(parts))
  registered.add(registerSignInCommands(parts))
  return registered
}
