import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { isSetAside } from '../../bridge/conversation.ts'
import type { ChangeSelection, CheckpointFile } from '../../changes/session-changes.ts'
import { UnavailableError } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { textOf } from '../../conversation/blocks.ts'
import { promptOfTurn, rewindsOf, writtenBlocks } from '../../conversation/rewinds.ts'
import type { MessageEntry } from '../../conversation/state.ts'
import { startsTurn } from '../../conversation/user-prompts.ts'
import { type OpenSession, referenceOf } from '../../sessions/open-session.ts'
import { promptBefore } from '../../sessions/prompts.ts'
import { offerRestore, restoreUndone, type UndoServices, undoChanges } from '../changes/undo-changes.ts'
import { conversationAttachment } from '../conversation/conversation-context.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { Dialogs, PickItem, RestorePreview } from '../workbench.ts'
import { type EntryTarget, targetOf } from './entry-commands.ts'

export interface CheckpointCommandsOptions extends UndoServices {
  surfaces: ConversationSurfaces
}

/** Number of files that a confirmation lists. */
const MAX_NAMED = 20
/** Maximum length of a prompt that is shown. UTF-16 units. */
const MAX_EXCERPT = 60

/** What restoring files to before a prompt can and can't do. */
interface Plan {
  /** The turn that the prompt began. */
  turn: number
  files: CheckpointFile[]
  /** Files outside of the session's folders that tool calls changed. */
  outside: string[]
  /** Tool calls ran commands, which may have changed files that nothing reports. */
  ranCommands: boolean
}

/** Goes back to before a prompt: the files, the conversation, or both. */
export function checkpointCommands({ surfaces, ...services }: CheckpointCommandsOptions) {
  const on = (run: (target: EntryTarget) => Promise<void>) => (context?: unknown) =>
    run(targetOf(surfaces, context))
  return {
    [CommandId.restoreCheckpoint]: on(async ({ surface, open, entry }) => {
      const prompt = entry
        ? promptBefore(open.session.state, entry.id)
        : await pickPrompt(services.workbench.dialogs, open)
      // Undo Restore is at the end
      if (prompt && (await confirmRestore(open, prompt, services)))
        surface.tell('conversation/navigate', { to: 'latest' })
    }),
    [CommandId.undoRestore]: on(({ open, entry }) => undoRestore(open, entry?.id, services)),
    [CommandId.forkFromHere]: on(async ({ surface, open, entry }) => {
      const { session, agentName } = open
      if (!session.agent.capabilities.fork)
        throw new UnavailableError(l10n.t("{0} can't fork sessions.", agentName))
      const { turn } = session.state
      await surface.reveal()
      await forkBefore({ surface, open, entry }, (entry?.turn ?? turn) + 1)
    }),
    [CommandId.editPrompt]: on(target => editPrompt(target, services)),
  } satisfies Partial<CommandHandlers>
}

// ---- restoring -----------------------------------------------------------------------------------------------------

async function planOf(open: OpenSession, turn: number): Promise<Plan> {
  const { changes, plan, session } = open
  await changes.refresh()
  const outside = new Set<string>()
  let ranCommands = false
  const { rules } = changes.shared
  const { cwd, additionalDirectories } = plan.setup
  for (const entry of session.state.entries) {
    if (entry.turn < turn || entry.kind !== 'tool_call' || entry.startedAt === undefined) continue
    if (entry.toolKind === 'execute') ranCommands = true
    const isChange = entry.toolKind === 'edit' || entry.toolKind === 'delete' || entry.toolKind === 'move'
    const named = [
      ...(isChange ? entry.locations.map(location => location.path) : []),
      ...entry.content.flatMap(content =>
        content.type === 'diff' ? content.changes.map(change => change.path) : [],
      ),
    ]
    for (const one of named) {
      const file = path.resolve(cwd, one)
      if (![cwd, ...additionalDirectories].some(root => rules.contains(root, file))) outside.add(file)
    }
  }
  return { turn, files: changes.checkpoint(turn), outside: [...outside], ranCommands }
}

/** Those that a restore changes, at least in part. */
function restorable({ files }: Plan): CheckpointFile[] {
  return files.filter(({ left, added, removed }) => !left || added + removed > 0)
}

/** Resolves with whether the user confirmed. */
async function confirmRestore(
  open: OpenSession,
  prompt: MessageEntry,
  services: UndoServices,
): Promise<boolean> {
  throwWhileWorking(open)
  const { turn } = prompt
  if (isSetAsideIn(open, turn))
    throw new UnavailableError(l10n.t('This prompt is already set aside. Undo the restore first.'))
  const plan = await planOf(open, turn)
  if (restorable(plan).length === 0 && detailOf(open, plan) === '')
    throw new UnavailableError(l10n.t('No files changed since this prompt.'))
  const selection = await askRestore(open, plan, services)
  if (!selection) return false
  await restoreFiles(open, selection, services)
  return true
}

/** Says what a restore does, shows a preview of it on request, and asks. `undefined`: the user doesn't want it. */
async function askRestore(
  open: OpenSession,
  plan: Plan,
  { workbench: { dialogs, editors } }: UndoServices,
): Promise<(ChangeSelection & { since: number }) | undefined> {
  const files = restorable(plan)
  const question =
    files.length === 0
      ? l10n.t('No files can be restored to before this prompt.')
      : files.length === 1
        ? l10n.t('Restore 1 file to before this prompt?')
        : l10n.t('Restore {0} files to before this prompt?', files.length)
  const restore = l10n.t('Restore')
  const certain = l10n.t('Restore Reported Changes Only')
  const preview = l10n.t('Preview')
  const isMixed = files.some(file => file.uncertain) && files.some(file => file.uncertain !== 'all')
  const answers = files.length === 0 ? [] : isMixed ? [restore, certain] : [restore]
  const previews = previewsOf(open, plan)
  const options = { detail: detailOf(open, plan) }
  let answer = await dialogs.confirm(question, options, ...answers, ...(previews.length > 0 ? [preview] : []))
  if (answer === preview) {
    await editors.previewRestore(previews, l10n.t('Preview of Restore'))
    answer = await dialogs.info(question, ...answers)
  }
  if (answer === undefined) return undefined
  throwWhileWorking(open)
  return { since: plan.turn, ...(answer === certain && { certain: true }) }
}

/** The text files that a restore changes. */
function previewsOf({ changes }: OpenSession, plan: Plan): RestorePreview[] {
  return restorable(plan).flatMap(({ path: file }) => {
    const now = changes.current(file)
    const after = changes.restored(file, plan.turn)
    if (!now || !after || now.text === after.text) return []
    return {
      path: file,
      ...(now.attributes.type === 'text' && { before: now.text }),
      ...(after.attributes.type === 'text' && { after: after.text }),
    }
  })
}

/** Describes what happens to each file, and why some are left unchanged. */
function detailOf(open: OpenSession, plan: Plan): string {
  const { cwd } = open.plan.setup
  const nameOf = (file: string) => {
    const name = path.relative(cwd, file)
    return plainMessage(name.startsWith('..') ? file : name)
  }
  const changed = restorable(plan).map(({ path: file, action, added, removed, uncertain }) => {
    const name = nameOf(file)
    const line =
      action === 'delete'
        ? l10n.t('Delete {0}', name)
        : action === 'create'
          ? l10n.t('Bring back {0}', name)
          : l10n.t('Restore {0} (+{1} −{2})', name, added, removed)
    if (uncertain === 'some') return l10n.t('{0}, some of it not reported by the agent', line)
    return uncertain ? l10n.t('{0}, not reported by the agent', line) : line
  })
  const left = [
    ...plan.files.flatMap(({ path: file, left: why }) => (why ? leftReason(nameOf(file), why) : [])),
    ...plan.outside.map(file => l10n.t("{0}: outside the session's folders", nameOf(file))),
  ]
  const { files: omitted, folders } = open.changes.omitted
  const notes = [
    ...(omitted === 1 ? [l10n.t("1 more changed file isn't tracked.")] : []),
    ...(omitted > 1 ? [l10n.t("{0} more changed files aren't tracked.", omitted)] : []),
    ...folders.map(folder =>
      l10n.t(
        "Changes that commands made in {0} aren't tracked: the folder is too large, or its repository is new or can't be read.",
        plainMessage(path.basename(folder)),
      ),
    ),
    ...(plan.ranCommands
      ? [l10n.t("Commands have run since then. Their changes to ignored files aren't tracked.")]
      : []),
    ...(changed.length > 0 ? [l10n.t('Your own changes are kept.')] : []),
  ]
  const sections = [
    named(changed),
    left.length > 0 ? [l10n.t('Not restored:'), ...named(left)] : [],
    changed.length + left.length > 0 ? notes : [],
  ]
  return sections
    .filter(lines => lines.length > 0)
    .map(lines => lines.join('\n'))
    .join('\n\n')
}

function named(lines: readonly string[]): string[] {
  if (lines.length <= MAX_NAMED) return [...lines]
  return [...lines.slice(0, MAX_NAMED), l10n.t('…and {0} more', lines.length - MAX_NAMED)]
}

function leftReason(name: string, why: NonNullable<CheckpointFile['left']>): string {
  switch (why) {
    case 'user':
      return l10n.t('{0}: you edited the same lines', name)
    case 'agent':
      return l10n.t('{0}: another session changed the same lines', name)
    case 'unsaved':
      return l10n.t('{0}: has unsaved changes', name)
    case 'conflict':
      return l10n.t('{0}: changed on disk while it has unsaved changes, asks before it merges both', name)
    case 'gone':
      return l10n.t('{0}: you deleted this file', name)
    case 'large':
      return l10n.t('{0}: too large to be saved', name)
    case 'age':
      return l10n.t('{0}: its checkpoint expired', name)
    case 'size':
      return l10n.t('{0}: its checkpoint was deleted to save space', name)
  }
}

async function restoreFiles(
  open: OpenSession,
  selection: ChangeSelection & { since: number },
  services: UndoServices,
): Promise<void> {
  const { session, changes } = open
  const { since } = selection
  const { state } = session
  await undoChanges(changes, selection, services, undone => {
    if (session.phase !== 'ready') {
      offerRestore(undone, services)
      return
    }
    const prompt = promptOfTurn(state, since)
    session.notify({
      severity: 'info',
      title: l10n.t('Files restored to before the prompt “{0}”', prompt ? excerptOf(prompt) : ''),
      description: l10n.t(
        'Everything since that prompt is set aside. Your next prompt tells the agent to disregard it.',
      ),
      files: undone.files.map(({ before }) => before.path),
      rewind: { from: since, to: state.turn, restored: undone.id },
    })
  })
}

/** Reverts a restore: that of a notice, or the last one. */
async function undoRestore(open: OpenSession, id: string | undefined, services: UndoServices): Promise<void> {
  throwWhileWorking(open)
  const { session } = open
  const notice = rewindsOf(session.state).findLast(
    one => one.rewind.restored !== undefined && (id === undefined || one.id === id),
  )
  const restored = notice?.rewind.restored
  if (!notice || restored === undefined) throw new UnavailableError(l10n.t('There is no restore to undo.'))
  if (!services.tracker.review.undone.some(one => one.id === restored))
    throw new UnavailableError(l10n.t('This restore can no longer be undone.'))
  await restoreUndone(restored, services)
}

// ---- editing and forking -------------------------------------------------------------------------------------------

interface EditChoice extends PickItem {
  restores?: true
  /** Otherwise the prompt goes to the end of this conversation. */
  leaves?: true
}

/**
 * Returns a prompt to the composer for editing: in a fork of the conversation up to it, or at the end of this
 * conversation.
 */
async function editPrompt(target: EntryTarget, services: UndoServices): Promise<void> {
  const { surface, open, entry } = target
  const prompt = promptBefore(open.session.state, entry?.id)
  if (!prompt) throw new UnavailableError(l10n.t('No prompts have been sent yet.'))
  const blocks = writtenBlocks(prompt.blocks)
  const { turn } = prompt
  const choice = await pickEdit(services.workbench.dialogs, open, turn)
  if (!choice) return
  if (choice.restores) {
    throwWhileWorking(open)
    const selection = await askRestore(open, await planOf(open, turn), services)
    if (!selection) return
    await restoreFiles(open, selection, services)
  }
  await surface.reveal()
  if (choice.leaves) {
    const begun = open.session.agent.capabilities.fork
      ? await forkBefore(target, turn)
      : await beginWithBefore(target, turn)
    if (!begun) return
  }
  surface.tell('actions/fill', { blocks })
}

async function pickEdit(dialogs: Dialogs, open: OpenSession, turn: number): Promise<EditChoice | undefined> {
  const { session } = open
  const here: EditChoice = {
    label: l10n.t('Edit Here'),
    detail: l10n.t('Sends a new message. The agent still sees the original and its answer.'),
  }
  // the agent accepts nothing else while it works
  if (session.phase !== 'ready' || session.state.activity !== 'idle') return here
  const { fork } = session.agent.capabilities
  const files = isSetAsideIn(open, turn) ? [] : restorable(await planOf(open, turn))
  const names = named(files.map(file => plainMessage(path.basename(file.path)))).join(', ')
  const anew = fork ? l10n.t('Edit in a Fork') : l10n.t('Edit in a New Session')
  const withFiles =
    files.length === 1
      ? fork
        ? l10n.t('Restore 1 File and Edit in a Fork')
        : l10n.t('Restore 1 File and Edit in a New Session')
      : fork
        ? l10n.t('Restore {0} Files and Edit in a Fork', files.length)
        : l10n.t('Restore {0} Files and Edit in a New Session', files.length)
  const items: EditChoice[] = [
    ...(files.length > 0 ? [{ label: withFiles, detail: names, restores: true, leaves: true } as const] : []),
    { label: anew, detail: l10n.t('Leaves all files as they are.'), leaves: true },
    here,
  ]
  return dialogs.pick(items, {
    title: l10n.t('Edit and Resend'),
    placeholder: l10n.t('Select where to continue with the edited prompt'),
  })
}

/** Shows a fork in which the turns from this one on are set aside. Returns false if it couldn't be created. */
async function forkBefore({ surface, open }: EntryTarget, turn: number): Promise<boolean> {
  const { controller } = surface
  await controller.opener.fork(referenceOf(open))
  const begun = controller.current
  // if it couldn't be created, its view shows why
  if (controller.phase !== 'ready' || !begun || begun === open) return false
  const { session } = begun
  const to = open.session.state.turn
  if (turn > to || isSetAsideIn(begun, turn)) return true
  const prompt = promptOfTurn(session.state, turn)
  session.notify({
    severity: 'info',
    title: l10n.t('Continued from before the prompt “{0}”', prompt ? excerptOf(prompt) : ''),
    description: l10n.t(
      'Everything since that prompt is set aside. Your next prompt tells the agent to disregard it.',
    ),
    rewind: { from: turn, to },
  })
  return true
}

/** Starts a session that gets the conversation before a turn as context. Returns false if it couldn't be started. */
async function beginWithBefore({ surface, open }: EntryTarget, turn: number): Promise<boolean> {
  const { controller } = surface
  await controller.opener.start(open.agentId, { cwd: open.plan.setup.cwd })
  const begun = controller.current
  if (controller.phase !== 'ready' || !begun || begun === open) return false
  const { embeddedContext } = begun.session.agent.capabilities.prompt
  const isFirst = !open.session.state.entries.some(entry => entry.kind === 'message' && entry.turn < turn)
  if (!isFirst) surface.attach(conversationAttachment(open, embeddedContext, turn))
  return true
}

// ---- internals ---------------------------------------------------------------------------------------------------------

async function pickPrompt(dialogs: Dialogs, open: OpenSession): Promise<MessageEntry | undefined> {
  const { state } = open.session
  const prompts = state.entries.filter(startsTurn).filter(({ turn }) => !isSetAsideIn(open, turn))
  if (prompts.length === 0) throw new UnavailableError(l10n.t('No prompts have been sent yet.'))
  const items = prompts.reverse().map(prompt => {
    const count = open.changes.checkpoint(prompt.turn).length
    const description =
      count === 0 ? l10n.t('No changes since') : count === 1 ? l10n.t('1 file') : l10n.t('{0} files', count)
    return { label: excerptOf(prompt), description, prompt }
  })
  const picked = await dialogs.pick(items, {
    title: l10n.t('Restore Files'),
    placeholder: l10n.t('Select the prompt to restore files to before'),
  })
  return picked?.prompt
}

function throwWhileWorking({ session }: OpenSession): void {
  if (session.phase === 'ready' && session.state.activity !== 'idle')
    throw new UnavailableError(l10n.t('Stop the turn before restoring files.'))
}

function isSetAsideIn({ session }: OpenSession, turn: number): boolean {
  return isSetAside(
    rewindsOf(session.state).map(({ rewind }) => rewind),
    turn,
  )
}

function excerptOf({ blocks }: MessageEntry): string {
  const text = plainMessage(textOf(writtenBlocks(blocks)).trim().replace(/\s+/g, ' '))
  return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT).trimEnd()}…` : text
}
