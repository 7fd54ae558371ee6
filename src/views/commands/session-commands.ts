import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { UnavailableError } from '../../common/errors.ts'
import type { SessionOrganizer } from '../../sessions/listing/session-organizer.ts'
import { type OpenSession, referenceOf } from '../../sessions/open-session.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import { tellFailure } from '../tell-failure.ts'
import { waitForAgent } from '../wait-for-agent.ts'

export interface SessionCommandOptions {
  surfaces: ConversationSurfaces
  organizer: SessionOrganizer
}

/** *Rename Session…* and *Fork Session*, for the conversation that the user works in. */
export function sessionCommands({ surfaces, organizer }: SessionCommandOptions) {
  const on = (run: (open: OpenSession) => Promise<void>) => () => {
    const { current } = surfaces.active.controller
    if (!current) throw new UnavailableError(l10n.t('The conversation has no session.'))
    return run(current)
  }
  return {
    [CommandId.renameSession]: on(async open => {
      const reference = referenceOf(open)
      const title = await vscode.window.showInputBox({
        title: l10n.t('Rename Session'),
        prompt: l10n.t('Session title. Leave empty to use the automatic title.'),
        value: reference.title ?? '',
      })
      if (title === undefined || title.trim() === (reference.title ?? '')) return
      const { controller } = surfaces.active
      await tellFailure(
        reference.agentId,
        (agentId, then) => controller.offerSignIn(agentId, then),
        () =>
          waitForAgent(open.agentName, l10n.t('Rename Session'), () => organizer.rename(reference, title)),
      )
    }),
    [CommandId.forkSession]: on(async open => {
      if (!open.session.agent.capabilities.fork)
        throw new UnavailableError(l10n.t("{0} can't fork sessions.", open.agentName))
      await surfaces.active.reveal()
      await surfaces.active.controller.fork(referenceOf(open))
    }),
  } satisfies Partial<CommandHandlers>
}
