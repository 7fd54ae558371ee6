import * as l10n from '@vscode/l10n'
import * as vscode from 'vscode'
import { DisposableStore } from '../../common/disposable.ts'
import type { Logger } from '../../common/logger.ts'
import { entryMarkdown, messageText } from '../../conversation/markdown-export.ts'
import type { Entry } from '../../conversation/state.ts'
import { lastAnswer, promptBefore } from '../../sessions/prompts.ts'
import type { OpenSession } from '../../sessions/session-manager.ts'
import { titleOf } from '../../sessions/session-title.ts'
import { FillComposer, Quote } from '../bridge/actions.ts'
import type { Attachment } from '../bridge/conversation.ts'
import { entryContext } from '../bridge/incoming-actions.ts'
import type { ConversationSurface, ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { documentOf, exportDocument, fileNameOf, openDocument } from '../conversation-document.ts'
import { CommandId } from '../ids.ts'
import { registerCommand } from './register-command.ts'

interface Target {
  surface: ConversationSurface
  open: OpenSession
  /** what was pointed at, if anything was */
  entry: Entry | undefined
}

/** What a person does with a message or a whole conversation: from a button, the context menu or the palette. */
export function registerEntryCommands(surfaces: ConversationSurfaces, log: Logger): vscode.Disposable {
  const registered = new DisposableStore()
  const on = (id: string, run: (target: Target) => unknown) =>
    registered.add(registerCommand(log, id, (context?: unknown) => run(targetOf(surfaces, context))))

  on(CommandId.copyMessage, async ({ open: { session }, entry }) => {
    const wanted = entry ?? lastAnswer(session.state)
    if (!wanted) throw new Error(l10n.t('The agent has said nothing yet.'))
    const text =
      wanted.kind === 'message' ? messageText(wanted) : entryMarkdown(wanted, session.state.terminals)
    await vscode.env.clipboard.writeText(text)
  })
  on(CommandId.copyConversation, ({ open }) => vscode.env.clipboard.writeText(documentOf(open)))
  on(CommandId.exportConversation, ({ open }) => exportDocument(open))
  on(CommandId.openConversationAsDocument, ({ open }) => openDocument(open))
  on(CommandId.editPrompt, async ({ surface, open, entry }) => {
    const { blocks } = promptOf(open, entry)
    await surface.reveal()
    surface.tell(FillComposer, { blocks })
  })
  on(CommandId.sendAgain, ({ surface, open, entry }) => {
    const { blocks } = promptOf(open, entry)
    return surface.controller.prompt(async () => [...blocks])
  })
  on(CommandId.newSessionWithConversation, async ({ surface, open }) => {
    await surface.reveal()
    const { controller } = surface
    await controller.start(open.agentId, open.plan.setup.cwd)
    // where it could not be begun, what stands there says why
    const begun = controller.current
    if (controller.phase !== 'ready' || !begun || begun === open) return
    surface.attach(conversationAttachment(open, begun.session.agent.capabilities.prompt.embeddedContext))
  })
  registered.add(
    vscode.commands.registerCommand(CommandId.quoteSelection, () => surfaces.active.tell(Quote, undefined)),
  )
  return registered
}

function targetOf(surfaces: ConversationSurfaces, context: unknown): Target {
  const pointed = entryContext.safeParse(context)
  const surface = pointed.success ? surfaces.withKey(pointed.data.conversation) : surfaces.active
  const open = surface?.controller.current
  if (!surface || !open) throw new Error(l10n.t('There is no conversation.'))
  const { entries, index } = open.session.state
  const id = pointed.success ? pointed.data.entry : undefined
  return { surface, open, entry: id === undefined ? undefined : entries[index.get(id) ?? -1] }
}

function promptOf(open: OpenSession, entry: Entry | undefined) {
  const prompt = promptBefore(open.session.state, entry?.id)
  if (!prompt) throw new Error(l10n.t('No prompt was sent yet.'))
  return prompt
}

let last = 0

/** The conversation itself, as context for another one: as text for an agent that takes no files. */
function conversationAttachment(open: OpenSession, embedded: boolean): Attachment {
  const uri = `parley:/${encodeURIComponent(fileNameOf(open))}.md`
  const text = documentOf(open)
  return {
    id: `conversation-${++last}`,
    label: titleOf(open.session) || l10n.t('Conversation'),
    icon: 'comment-discussion',
    detail: l10n.t('A conversation with {0}', open.agentName),
    content: embedded ? { type: 'resource', uri, mimeType: 'text/markdown', text } : { type: 'text', text },
  }
}
