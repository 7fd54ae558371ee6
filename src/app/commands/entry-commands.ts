import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { UnavailableError } from '../../common/errors.ts'
import { messageText, wholeMessage } from '../../conversation/entries/message.ts'
import { entryMarkdown } from '../../conversation/markdown-export.ts'
import type { Entry } from '../../conversation/state.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import { lastAnswer, promptAgain, promptBefore } from '../../sessions/prompts.ts'
import { documentOf } from '../conversation/conversation-context.ts'
import type { ConversationSurface, ConversationSurfaces } from '../conversation/conversation-surface.ts'
import type { SessionExporter } from '../history/export-sessions.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { Workbench } from '../workbench.ts'

/** The argument of commands that apply to an entry. VS Code adds properties of its own. */
const entryContext = z.object({
  conversation: z.string().min(1).max(256),
  entry: z.string().max(4096).optional(),
})

export interface EntryTarget {
  surface: ConversationSurface
  open: OpenSession
  /** the entry under the pointer, if any */
  entry: Entry | undefined
}

/** Returns the commands for a message or a whole conversation. They run from a button, the context menu or the palette. */
export function entryCommands(
  surfaces: ConversationSurfaces,
  workbench: Workbench,
  exporter: Pick<SessionExporter, 'exportSession'>,
) {
  const on = (run: (target: EntryTarget) => unknown) => async (context?: unknown) =>
    run(await targetOf(surfaces, context))
  return {
    [CommandId.copyMessage]: on(async ({ open: { session }, entry }) => {
      const wanted = entry ?? lastAnswer(session.state)
      if (!wanted) throw new UnavailableError(l10n.t("The agent hasn't responded yet."))
      const { entries, index, terminals } = session.state
      const message = wholeMessage(entries, index.get(wanted.id) ?? -1)
      const text = message ? messageText(message) : entryMarkdown(wanted, terminals)
      await copy(workbench, text)
    }),
    [CommandId.copyConversation]: on(({ open }) => copy(workbench, documentOf(open))),
    [CommandId.exportConversation]: on(({ open: { agentId, session } }) =>
      exporter.exportSession({ agentId, sessionId: session.sessionId }),
    ),
    [CommandId.openConversationAsDocument]: on(({ open }) =>
      workbench.editors.openText(documentOf(open), 'markdown'),
    ),
    [CommandId.sendAgain]: on(({ surface, open, entry }) => {
      surface.controller.prompts.enqueue(open.key, promptAgain(promptOf(open, entry)))
    }),
    [CommandId.quoteSelection]: on(({ surface }) => {
      if (!surface.isVisible) throw new UnavailableError(l10n.t('Select text in the conversation first.'))
      surface.sendToPage('actions/quote')
    }),
  } satisfies Partial<CommandHandlers>
}

async function copy({ copy, dialogs }: Workbench, text: string): Promise<void> {
  await copy(text)
  dialogs.showStatus(l10n.t('Copied to the clipboard'))
}

export async function targetOf(surfaces: ConversationSurfaces, context: unknown): Promise<EntryTarget> {
  const pointed = entryContext.safeParse(context)
  const surface = pointed.success ? surfaces.withKey(pointed.data.conversation) : surfaces.active
  const open = await surface?.controller.whole()
  if (!surface || !open) throw new UnavailableError(l10n.t('No conversation is open.'))
  const { entries, index } = open.session.state
  const id = pointed.success ? pointed.data.entry : undefined
  return { surface, open, entry: id === undefined ? undefined : entries[index.get(id) ?? -1] }
}

function promptOf(open: OpenSession, entry: Entry | undefined) {
  const prompt = promptBefore(open.session.state, entry?.id)
  if (!prompt) throw new UnavailableError(l10n.t('No prompts have been sent yet.'))
  return prompt
}
