import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { DisposableStore } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import type { SessionUpkeep } from '../../sessions/listing/session-upkeep.ts'
import type { OpenSession } from '../../sessions/session-manager.ts'
import { referenceOf } from '../../sessions/session-reference.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { CommandId } from '../ids.ts'
import { tellFailure } from '../tell-failure.ts'
import { waitForAgent } from '../wait-for-agent.ts'
import { registerCommand } from './register-command.ts'

export interface SessionCommandParts {
  surfaces: ConversationSurfaces
  upkeep: SessionUpkeep
  log: Logger
}

/** *Rename Session…* and *Fork Session*: for the conversation that the person works in. */
export function registerSessionCommands({ surfaces, upkeep, log }: SessionCommandParts): vscode.Disposable {
  const registered = new DisposableStore()
  const on = (id: string, run: (open: OpenSession) => Promise<void>) =>
    registered.add(
      registerCommand(log, id, () => {
        const { current } = surfaces.active.controller
        if (!current) throw new Error(l10n.t('There is no session in the conversation.'))
        return run(current)
      }),
    )

  on(CommandId.renameSession, async open => {
    const reference = referenceOf(open)
    const title = await vscode.window.showInputBox({
      title: l10n.t('Rename Session'),
      prompt: l10n.t('The session’s title. Empty: as it is called without you.'),
      value: reference.title ?? '',
    })
    if (title === undefined || title.trim() === (reference.title ?? '')) return
    const { controller } = surfaces.active
    await tellFailure(
      reference.agentId,
      (agentId, then) => controller.offerSignIn(agentId, then),
      () => waitForAgent(open.agentName, l10n.t('Rename Session'), () => upkeep.rename(reference, title)),
    )
  })
  on(CommandId.forkSession, async open => {
    if (!open.session.agent.capabilities.fork)
      throw new Error(l10n.t('{0} cannot fork sessions.', open.agentName))
    await surfaces.active.reveal()
    await surfaces.active.controller.fork(referenceOf(open))
  })
  return registered
}
