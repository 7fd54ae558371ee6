import path from 'node:path'
import * as l10n from '@vscode/l10n'
import * as z from 'zod'
import { canUndo, type EditOptions, isRewound } from '../../bridge/conversation.ts'
import { draftItems, draftText } from '../../bridge/conversation-messages.ts'
import type { Undone } from '../../changes/model/undo-log.ts'
import type { ChangeSelection, CheckpointFile } from '../../changes/session-changes.ts'
import { AGENT_ICON } from '../../common/agent-icon.ts'
import { validDraft } from '../../common/draft.ts'
import { UnavailableError } from '../../common/errors.ts'
import { isText, isWithin, readable } from '../../common/file-names.ts'
import { isElsewhere } from '../../common/path-mapping.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { sessionOfKey } from '../../common/session-key.ts'
import { shortened } from '../../common/visible.ts'
import { textOf } from '../../conversation/blocks.ts'
import { isReturned } from '../../conversation/prompts/prompt-states.ts'
import { messageBefore, promptOfTurn, rewindsOf, writtenBlocks } from '../../conversation/rewinds.ts'
import type { MessageEntry } from '../../conversation/state.ts'
import { startsTurn } from '../../conversation/user-prompts.ts'
import { compareFolders, isOnShare } from '../../editor/folder-comparison.ts'
import { agentBefore } from '../../sessions/continuation.ts'
import { type OpenSession, referenceOf } from '../../sessions/open-session.ts'
import type { OpenSessions } from '../../sessions/open-sessions.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import { promptBefore } from '../../sessions/prompts.ts'
import type { ForkPoint } from '../../sessions/session-starter.ts'
import { titleOf } from '../../sessions/session-title.ts'
import { namesOf } from '../changes/file-names.ts'
import { offerRestore, restoreUndone, type UndoServices, undoChanges } from '../changes/undo-changes.ts'
import type { Branches } from '../conversation/branches.ts'
import { type ContinueServices, continueWith } from '../conversation/continue-with.ts'
import { conversationAttachment } from '../conversation/conversation-context.ts'
import type { ConversationSurfaces } from '../conversation/conversation-surface.ts'
import type { EditChoice } from '../conversation/edit-choice.ts'
import type { Summarize } from '../conversation/summarize.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { PickItem, RestorePreview, Workbench } from '../workbench.ts'
import { type EntryTarget, targetOf } from './entry-commands.ts'

interface BranchServices extends UndoServices {
  sessions: UndoServices['sessions'] & Pick<OpenSessions, 'withKey'>
  editChoice: EditChoice
  agents: Pick<AgentDirectory, 'list' | 'get'>
  workbench: UndoServices['workbench'] & Pick<Workbench, 'language'>
  branches: Branches
  /** Returns the title of a session that isn't open. */
  recordedTitle: (agentId: string, sessionId: string) => string | undefined
  summarize: Summarize
  earlierSession: ContinueServices['earlierSession']
  /** Shows a session, and opens it if necessary. */
  openSession: (agentId: string, sessionId: string) => Promise<void>
}

export interface CheckpointCommandsOptions extends BranchServices {
  surfaces: ConversationSurfaces
}

/** The maximum number of files that a confirmation lists. */
const MAX_NAMED = 20
/** The maximum length of a prompt in a list or message, in UTF-16 units. */
const MAX_EXCERPT = 60

/** The effects and limits of restoring files to their state before a prompt. */
interface Plan {
  /** The turn that the prompt began. */
  turn: number
  files: CheckpointFile[]
  /** files that tool calls changed and that a restore can't change: outside of the session's folders, or on another machine */
  outside: string[]
  /** Tool calls ran commands, which may have changed files that nothing reports. */
  ranCommands: boolean
}

/** Commands that return to the state before a prompt: of the files, the conversation, or both. */
export function checkpointCommands({ surfaces, ...services }: CheckpointCommandsOptions) {
  const on = (run: (target: EntryTarget) => Promise<void>) => async (context?: unknown) =>
    run(await targetOf(surfaces, context))
  return {
    [CommandId.restoreCheckpoint]: on(async ({ surface, open, entry }) => {
      const picked = entry ? undefined : await pickPrompt(open, services)
      if (picked && !picked.prompt) return showBranches(open, surface, services)
      const prompt = entry ? promptBefore(open.session.state, entry.id) : picked?.prompt
      if (prompt) await restoreTo({ surface, open, entry }, prompt, services)
    }),
    [CommandId.undoRestore]: on(target => undoRestore(target, services)),
    [CommandId.continueSession]: async (context?: unknown) => {
      const target = await targetOf(surfaces, context)
      if (goBackContext.safeParse(context).success) return goBack(target, services)
      const chosen = chosenAgent.safeParse(context)
      if (chosen.success) return continueWithChosen(target, chosen.data.continuesWith, services)
      const picked = await services.workbench.dialogs.pick(continuations(target, surfaces, services), {
        title: l10n.t('Fork or Continue Session'),
        placeholder: l10n.t('Select how to continue'),
      })
      await picked?.run?.()
    },
    [CommandId.editPrompt]: async (context?: unknown) =>
      editPrompt(await targetOf(surfaces, context), context, services),
    [CommandId.showBranches]: on(({ surface, open }) => showBranches(open, surface, services)),
  } satisfies Partial<CommandHandlers>
}

// ---- restoring -----------------------------------------------------------------------------------------------------

async function planOf(open: OpenSession, turn: number): Promise<Plan> {
  const { changes, plan, session } = open
  await changes.refresh()
  const files = new Set<string>()
  let ranCommands = false
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
    for (const one of named) files.add(path.resolve(cwd, one))
  }
  const { isRemote, pathMappings } = session.agent.capabilities
  // the agent's files are on another machine
  if (isRemote) return { turn, files: [], outside: [...files], ranCommands }
  const roots = [cwd, ...additionalDirectories]
  const { rules } = changes.shared
  const foreign = [...files].filter(file => isElsewhere(pathMappings, file, cwd))
  const others = [...files].filter(
    file => !foreign.includes(file) && !roots.some(root => rules.contains(root, file)),
  )
  // only paths that don't start with a root's path need a lookup on disk
  const known = others.filter(file => !isOnShare(file, rules))
  const compare = await compareFolders([...roots, ...known])
  const outside = others.filter(file => !roots.some(root => compare.contains(root, file)))
  return { turn, files: changes.checkpoint(turn), outside: [...foreign, ...outside], ranCommands }
}

/** Returns the files that a restore changes, at least in part. */
function restorable({ files }: Plan): CheckpointFile[] {
  return files.filter(({ unchangedBecause, added, removed }) => !unchangedBecause || added + removed > 0)
}

/** Returns the prompt that the last restore put into the input, if no prompt was sent since. */
function filledPrompt({ session: { state } }: OpenSession): MessageEntry | undefined {
  const last = rewindsOf(state).findLast(({ rewind }) => !rewind.forgotten)
  return last?.rewind.to === state.turn ? promptOfTurn(state, last.rewind.from) : undefined
}

/** Conversations whose files are being restored. A second click on *Restore to Here* belongs to the same restore. */
const restoring = new WeakSet<OpenSession>()

/** Restores files and conversation to the state before a prompt, and puts the prompt into the input. */
async function restoreTo(target: EntryTarget, prompt: MessageEntry, services: BranchServices): Promise<void> {
  const { open } = target
  throwWhileWorking(open)
  const { turn } = prompt
  if (isRewoundIn(open, turn))
    throw new UnavailableError(l10n.t('This prompt is already set aside. Undo the restore first.'))
  const plan = await planOf(open, turn)
  // if the agent ended, only files can be restored
  if (open.session.phase !== 'ready' && restorable(plan).length === 0)
    throw new UnavailableError(l10n.t('No files changed since this prompt.'))
  const selection = await askRestore(open, plan, services)
  if (!selection || restoring.has(open) || isRewoundIn(open, turn)) return
  restoring.add(open)
  try {
    await restoreAs(selection, plan, target, prompt, services)
  } finally {
    restoring.delete(open)
  }
}

async function restoreAs(
  selection: ChangeSelection & { since: number },
  plan: Plan,
  target: EntryTarget,
  prompt: MessageEntry,
  services: BranchServices,
): Promise<void> {
  const { surface, open } = target
  const { turn } = prompt
  const point = forkPoint(open, turn, 'stay')
  const earlier = filledPrompt(open)
  const fill = async () => {
    // the user opened another conversation while a question waited, and the prompt doesn't belong in its input
    if (!point && surface.controller.current !== open) return
    await surface.reveal()
    // `fill` focuses the input, since the button that had the focus is gone
    surface.sendToPage('actions/fill', {
      blocks: writtenBlocks(prompt.blocks),
      ...(earlier && { instead: writtenBlocks(earlier.blocks) }),
    })
    // the notice with Undo Restore is at the end of the conversation
    surface.sendToPage('conversation/navigate', { to: 'latest' })
  }
  let undone: Undone | undefined
  // reports the restored files at once, since `undoChanges` may still ask about the user's own edits
  const tell = (restored: Undone) => {
    undone = restored
    if (point) return
    noteRestored(open, turn, restored, services)
    restoring.delete(open)
    void fill()
  }
  if (plan.files.length > 0) await undoChanges(open.changes, selection, services, tell)
  if (!undone && restorable(plan).length > 0) return
  if (point) await forkRestored(target, point, undone, services)
  else if (undone) return
  else noteRestored(open, turn, undone, services)
  await fill()
}

/**
 * Forks the session, so that the agent forgets the turns whose changes were undone. If the agent can't fork there, the next prompt tells
 * the agent to ignore the turns.
 */
async function forkRestored(
  { surface, open }: EntryTarget,
  point: ForkPoint,
  undone: Undone | undefined,
  services: BranchServices,
): Promise<void> {
  const { controller } = surface
  await controller.opener.fork(referenceOf(open), point)
  const begun = controller.current
  if (controller.phase === 'ready' && begun && begun !== open)
    noteForgotten(open, begun, point.turn, services, undone)
  else noteRestored(open, point.turn, undone, services)
}

/**
 * Asks what to restore, but only if there is a choice, since a restore can be undone. The dialog describes the effects and offers a
 * preview. Resolves to `undefined` if the user cancels.
 */
async function askRestore(
  open: OpenSession,
  plan: Plan,
  services: UndoServices,
): Promise<(ChangeSelection & { since: number }) | undefined> {
  if (!isToDecide(open, plan)) return { since: plan.turn }
  const { dialogs, editors } = services.workbench
  const files = restorable(plan)
  const question =
    files.length === 0
      ? l10n.t('Restore the conversation to before this prompt, and no files?')
      : files.length === 1
        ? l10n.t('Restore 1 file and the conversation to before this prompt?')
        : l10n.t('Restore {0} files and the conversation to before this prompt?', files.length)
  const restore = l10n.t('Restore')
  const certain = l10n.t('Restore Reported Changes Only')
  const preview = l10n.t('Preview')
  const isMixed = files.some(file => file.uncertain) && files.some(file => file.uncertain !== 'all')
  // changes that the agent didn't report may be the user's own
  const answers = isMixed ? [certain, l10n.t('Restore All')] : [restore]
  const previews = previewsOf(open, plan)
  const options = { detail: detailOf(open, plan, services) }
  let answer = await dialogs.confirm(question, options, ...answers, ...(previews.length > 0 ? [preview] : []))
  if (answer === preview) {
    await editors.previewRestore(previews, l10n.t('Preview of Restore'))
    answer = await dialogs.info(question, ...answers)
  }
  if (answer === undefined) return undefined
  throwWhileWorking(open)
  return { since: plan.turn, ...(answer === certain && { certain: true }) }
}

/** Whether the user must decide: the restore can't change some files, or might revert changes of the user. */
function isToDecide({ changes: { omitted } }: OpenSession, { files, outside }: Plan): boolean {
  if (outside.length + omitted.files + omitted.folders.length > 0) return true
  return files.some(
    ({ unchangedBecause, uncertain }) => unchangedBecause !== undefined || uncertain !== undefined,
  )
}

/** Returns the previews of the text files that a restore changes. */
function previewsOf({ changes }: OpenSession, plan: Plan): RestorePreview[] {
  return restorable(plan).flatMap(({ path: file }) => {
    const now = changes.current(file)
    const after = changes.restored(file, plan.turn)
    if (!now || !after || now.text === after.text || !isText(file)) return []
    return {
      path: file,
      ...(now.attributes.type === 'text' && { before: now.text }),
      ...(after.attributes.type === 'text' && { after: after.text }),
    }
  })
}

/** Returns a description of the effect on each file, with the reasons why some files stay unchanged. */
function detailOf(open: OpenSession, plan: Plan, { workbench, sessions }: UndoServices): string {
  const { cwd } = open.plan.setup
  const nameOf = (file: string) =>
    isWithin(cwd, file)
      ? plainMessage(readable(path.relative(cwd, file)))
      : namesOf(workbench, [file], sessions)
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
  const unchanged = [
    ...plan.files.flatMap(({ path: file, unchangedBecause: why }) =>
      why ? unchangedReason(nameOf(file), why) : [],
    ),
    ...plan.outside.map(file =>
      open.session.agent.capabilities.isRemote
        ? l10n.t("{0}: on the agent's server", nameOf(file))
        : l10n.t("{0}: outside the session's folders", nameOf(file)),
    ),
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
    ...(forkPoint(open, plan.turn, 'stay')
      ? [
          l10n.t(
            'The agent forgets this prompt and everything after it. To return to the current conversation, run Show Branches.',
          ),
        ]
      : []),
  ]
  const sections = [
    named(changed),
    unchanged.length > 0 ? [l10n.t('Not restored:'), ...named(unchanged)] : [],
    changed.length + unchanged.length > 0 ? notes : [],
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

function unchangedReason(name: string, why: NonNullable<CheckpointFile['unchangedBecause']>): string {
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

/** Adds a notice about the restore to the conversation. `undone` is absent if no files were restored. */
function noteRestored(
  open: OpenSession,
  since: number,
  undone: Undone | undefined,
  services: UndoServices,
): void {
  const { session } = open
  const { state } = session
  if (session.phase !== 'ready') {
    if (undone) offerRestore(undone, services)
    return
  }
  const prompt = promptOfTurn(state, since)
  session.notify({
    severity: 'info',
    title: restoredTitle(prompt ? excerptOf(prompt) : '', undone),
    description: l10n.t(
      'Everything since that prompt is set aside. The next prompt tells the agent to disregard it.',
    ),
    ...(undone && { files: undone.files.map(({ before }) => before.path) }),
    rewind: { from: since, to: state.turn, ...(undone && { restored: undone.id }) },
  })
}

function restoredTitle(excerpt: string, undone: Undone | undefined): string {
  return undone
    ? l10n.t('Files restored to before the prompt “{0}”', excerpt)
    : l10n.t('Conversation restored to before the prompt “{0}”', excerpt)
}

/** Reverts the restore of a notice, or else the last restore. Files, conversation and input return to their state before the restore. */
async function undoRestore({ surface, open, entry }: EntryTarget, services: BranchServices): Promise<void> {
  throwWhileWorking(open)
  const { session } = open
  const notice = rewindsOf(session.state).findLast(
    one => canUndo(one.rewind) && (entry === undefined || one.id === entry.id),
  )
  if (!notice) throw new UnavailableError(l10n.t('There is no restore to undo.'))
  const { from, to, restored, forgotten } = notice.rewind
  if (restored !== undefined) {
    if (!services.tracker.review.undone.some(one => one.id === restored))
      throw new UnavailableError(l10n.t('This restore can no longer be undone.'))
    await restoreUndone(restored, services)
    // the user kept later changes, so the notice stays
    if (rewindsOf(session.state).includes(notice)) return
  } else session.withdrawRewind(notice.id, l10n.t('The restore was undone'))
  const original = forgotten && services.branches.originOf(open.key)
  const prompt = promptOfTurn(
    (original && services.sessions.withKey(original)?.session.state) || session.state,
    from,
  )
  // if a prompt was sent since, the restored prompt isn't in the input anymore
  if (prompt && to === session.state.turn && surface.controller.current === open)
    surface.sendToPage('actions/fill', { blocks: [], instead: writtenBlocks(prompt.blocks) })
  if (!original) return
  const { agentId, sessionId } = sessionOfKey(original)
  await surface.reveal()
  await services.openSession(agentId, sessionId)
}

// ---- continuing in another session ----------------------------------------------------------------------------------

/** An argument that means *Go Back to…* below the notice: the command doesn't ask for an agent. */
const goBackContext = z.object({ goesBack: z.literal(true) })

async function goBack(target: EntryTarget, services: BranchServices): Promise<void> {
  const before = agentBefore(target.open, services.agents)
  // the conversation may have changed since the button was drawn
  if (!before || before.notice !== target.entry?.id)
    throw new UnavailableError(l10n.t('The conversation has changed. Try again.'))
  await continueWith(target, before.agent, { ...services, ...services.workbench })
}

/** The agent that the user selected in the menu of the conversation's agent, so that the command doesn't ask for one. */
const chosenAgent = z.object({ continuesWith: z.string().min(1) })

async function continueWithChosen(
  target: EntryTarget,
  agentId: string,
  services: BranchServices,
): Promise<void> {
  const agent = services.agents.get(agentId)
  // the conversation may have changed since the menu was opened
  if (!agent || agentId === target.open.agentId)
    throw new UnavailableError(l10n.t('The conversation has changed. Try again.'))
  await continueWith(target, agent, { ...services, ...services.workbench })
}

interface Continuation extends PickItem {
  run?: () => Promise<unknown>
}

/** Returns the possible ways to continue in another session. The first one continues with the whole conversation. */
function continuations(
  target: EntryTarget,
  surfaces: ConversationSurfaces,
  services: BranchServices,
): Continuation[] {
  const { surface, open, entry } = target
  const { agentId, agentName, session, plan } = open
  const { entries, turn } = session.state
  const forks: Continuation[] = []
  if (session.agent.capabilities.fork) {
    forks.push({
      label: l10n.t('Fork Session'),
      icon: 'repo-forked',
      detail: l10n.t('{0} continues with the whole conversation.', agentName),
      run: () => surfaces.open(surface, opener => opener.fork(referenceOf(open))),
    })
    if (entry && entry.turn < turn)
      forks.push({
        label: l10n.t('Fork from Here'),
        icon: 'git-branch',
        detail: l10n.t('{0} continues with the conversation up to this turn.', agentName),
        run: async () => {
          await surface.reveal()
          await forkBefore(target, entry.turn + 1, services)
        },
      })
  }
  if (entries.length === 0) {
    if (forks.length === 0) throw new UnavailableError(l10n.t('No prompts have been sent yet.'))
    return forks
  }
  const begun = (one: OpenSession) =>
    surface.attach(conversationAttachment(open, one.session.agent.capabilities.prompt.embeddedContext))
  // if the session can't be started, the view shows the reason
  const begin = () => surfaces.open(surface, opener => opener.start(agentId, { cwd: plan.setup.cwd, begun }))
  const others = services.agents.list().filter(agent => agent.agentId !== agentId)
  return [
    ...others.map(agent => ({
      label: l10n.t('Continue with {0}', agent.name),
      icon: agent.icon ?? AGENT_ICON,
      run: () => continueWith(target, agent, { ...services, ...services.workbench }),
    })),
    ...(forks.length > 0 ? [{ label: l10n.t('In a session of its own'), isSeparator: true }] : []),
    ...forks,
    { label: l10n.t('With this conversation as context'), isSeparator: true },
    { label: l10n.t('New Session with {0}', agentName), icon: 'add', run: begin },
  ]
}

// ---- editing and forking -------------------------------------------------------------------------------------------

const editContext = z.object({
  /** Returns only what is possible; sends nothing. */
  asks: z.literal(true).optional(),
  edited: z
    .object({
      id: z.string().min(1).max(64),
      draft: draftText.extend({ items: draftItems }),
      restores: z.boolean(),
      forgets: z.boolean(),
      isSetAside: z.boolean(),
    })
    .optional(),
})
type Edited = NonNullable<z.infer<typeof editContext>['edited']>

/** Lets the user edit a prompt in the conversation. Resolves to the result that the page needs. */
async function editPrompt(
  target: EntryTarget,
  context: unknown,
  services: BranchServices,
): Promise<EditOptions | boolean | undefined> {
  const { surface, open, entry } = target
  const prompt = promptBefore(open.session.state, entry?.id)
  if (!prompt) throw new UnavailableError(l10n.t('No prompts have been sent yet.'))
  const { asks, edited } = editContext.safeParse(context ?? {}).data ?? {}
  if (asks) return editOptions(open, prompt.turn, services)
  if (edited) return resendEdited(target, prompt.turn, edited, services)
  await surface.reveal()
  surface.sendToPage('actions/edit', { entryId: prompt.id })
  return undefined
}

async function editOptions(
  open: OpenSession,
  turn: number,
  { editChoice }: BranchServices,
): Promise<EditOptions> {
  const isReady = open.session.phase === 'ready' && !isRewoundIn(open, turn)
  return {
    files: isReady ? restorable(await planOf(open, turn)).length : 0,
    canForget: isReady && forkPoint(open, turn, 'stay') !== undefined,
    isSetAside: !isReady,
    agentName: open.agentName,
    ...editChoice.get(),
  }
}

/** Sends an edited prompt instead of the original. The original and all later turns are set aside or forgotten. */
async function resendEdited(
  target: EntryTarget,
  turn: number,
  { id, draft, restores, forgets, isSetAside }: Edited,
  services: BranchServices,
): Promise<boolean> {
  const { surface, open } = target
  const { controller } = surface
  throwIfNotNext(target)
  const isReady = open.session.phase === 'ready'
  // the agent may have exited since the user chose
  if (!isReady && !isSetAside)
    throw new UnavailableError(
      l10n.t(
        "What came after this prompt can't be replaced now. Restart the agent, or send again to continue at the end.",
      ),
    )
  services.editChoice.set({ restores, forgets })
  if (isReady && !isRewoundIn(open, turn)) {
    let undone: Undone | undefined
    const plan = await planOf(open, turn)
    if (restores && plan.files.length > 0) {
      // some changes may be the user's own
      const isUncertain = plan.files.some(({ uncertain }) => uncertain !== undefined)
      const selection = isUncertain ? await askRestore(open, plan, services) : { since: turn }
      if (!selection) return false
      await undoChanges(open.changes, selection, services, restored => {
        undone = restored
      })
      // the user kept their own edits in the files, so the prompt stays in its editor
      if (!undone && restorable(plan).length > 0) return false
    }
    // the conversation may have changed while the questions were open
    try {
      throwIfNotNext(target)
    } catch (error) {
      if (undone) offerRestore(undone, services)
      throw error
    }
    const point = forgets ? forkPoint(open, turn, 'stay') : undefined
    if (point) await forkRestored(target, point, undone, services)
    else noteRestored(open, turn, undone, services)
    // if the fork couldn't be created, the view shows the reason
    if (controller.phase !== 'ready') return false
  }
  controller.prompts.enqueue(controller.key, { id, draft: validDraft(draft) })
  return true
}

/**
 * Shows a fork without this turn and the later ones. If the agent can't fork at a message, the turns are set aside in the fork. Resolves to
 * false if the fork couldn't be created. `undone` contains the files that were restored for the fork; if the agent can fork at a message,
 * the conversation has no notice about them yet.
 */
async function forkBefore(
  { surface, open }: EntryTarget,
  turn: number,
  services: BranchServices,
  undone?: Undone,
): Promise<boolean> {
  const { controller } = surface
  const point = turn > open.session.state.turn ? undefined : forkPoint(open, turn, 'whole')
  await controller.opener.fork(referenceOf(open), point)
  const begun = controller.current
  // if the fork couldn't be created, its view shows the reason
  if (controller.phase !== 'ready' || !begun || begun === open) {
    if (undone && point) noteRestored(open, turn, undone, services)
    return false
  }
  const { session } = begun
  if (point && !promptOfTurn(session.state, turn)) {
    noteForgotten(open, begun, turn, services, undone)
    return true
  }
  if (undone && point) noteRestored(begun, turn, undone, services)
  const to = open.session.state.turn
  if (turn > to || isRewoundIn(begun, turn)) return true
  const prompt = promptOfTurn(session.state, turn)
  session.notify({
    severity: 'info',
    title: l10n.t('Continued from before the prompt “{0}”', prompt ? excerptOf(prompt) : ''),
    description: l10n.t(
      'Everything since that prompt is set aside. The next prompt tells the agent to disregard it.',
    ),
    rewind: { from: turn, to },
  })
  return true
}

/** Returns where to fork the session so that its agent forgets this turn and the later ones; `undefined` if the agent can't fork there. */
function forkPoint(
  { session }: OpenSession,
  turn: number,
  otherwise: ForkPoint['otherwise'],
): ForkPoint | undefined {
  if (session.phase !== 'ready' || !session.agent.capabilities.forkAtMessage) return undefined
  const messageId = messageBefore(session.state, turn)
  return messageId === undefined ? undefined : { messageId, turn, otherwise }
}

/** Adds a notice to the fork about the turns that the fork lacks. The original session doesn't change. */
function noteForgotten(
  open: OpenSession,
  fork: OpenSession,
  turn: number,
  { branches }: BranchServices,
  undone?: Undone,
): void {
  const prompt = promptOfTurn(open.session.state, turn)
  const excerpt = prompt ? excerptOf(prompt) : ''
  fork.session.notify({
    severity: 'info',
    title: undone
      ? l10n.t('Files restored to before the prompt “{0}”', excerpt)
      : l10n.t('Continued from before the prompt “{0}”', excerpt),
    description: l10n.t(
      'The agent has forgotten that prompt and everything after it. The original session has them.',
    ),
    ...(undone && { files: undone.files.map(({ before }) => before.path) }),
    rewind: { from: turn, to: turn - 1, forgotten: true, ...(undone && { restored: undone.id }) },
  })
  branches.add({
    from: open.key,
    to: fork.key,
    prompt: excerpt,
    at: Date.now(),
    ...(undone && { restored: undone.id }),
  })
}

/** Lets the user open the conversation from which this one was forked, or one of its forks. */
async function showBranches(
  open: OpenSession,
  surface: EntryTarget['surface'],
  services: BranchServices,
): Promise<void> {
  const { branches, workbench, sessions, tracker, recordedTitle } = services
  const found = branches.of(open.key)
  if (found.length === 0)
    throw new UnavailableError(
      l10n.t(
        'This conversation has no branches. A branch is created when you restore, edit or fork at an earlier prompt and the agent can fork there.',
      ),
    )
  const date = new Intl.DateTimeFormat(workbench.language, { dateStyle: 'short', timeStyle: 'short' })
  const keys = [...new Set(found.flatMap(({ from, to }) => [to, from]))].filter(key => key !== open.key)
  const items = keys.map(key => {
    const { agentId, sessionId } = sessionOfKey(key)
    const one = sessions.withKey(key)
    const title = (one && titleOf(one.session)) ?? recordedTitle(agentId, sessionId)
    const asOrigin = found.find(({ from }) => from === key)
    const parted = asOrigin ?? found.find(({ to }) => to === key)
    return {
      label: `$(git-branch) ${plainMessage(title ?? '') || l10n.t('Untitled session')}`,
      description: parted ? date.format(parted.at) : '',
      detail: asOrigin
        ? l10n.t('With the prompt “{0}” and everything after it', asOrigin.prompt)
        : l10n.t('Without the prompt “{0}” and everything after it', parted?.prompt ?? ''),
      ...{ agentId, sessionId, restored: asOrigin?.restored },
    }
  })
  const picked = await workbench.dialogs.pick(items, {
    title: l10n.t('Branches'),
    placeholder: l10n.t('Select a branch to go to'),
    matchOnDetail: true,
  })
  if (!picked) return
  throwWhileWorking(open)
  const { agentId, sessionId, restored } = picked
  const hasFiles = restored !== undefined && tracker.review.undone.some(({ id }) => id === restored)
  const again = l10n.t('Restore Files')
  const keepCurrent = l10n.t('Keep Current Files')
  const answer = hasFiles
    ? await workbench.dialogs.confirm(
        l10n.t('Restore the files of this branch, too?'),
        {
          detail: l10n.t(
            'When you left this branch, its files were reverted to their state before the prompt.',
          ),
        },
        ...[again, keepCurrent],
      )
    : keepCurrent
  if (answer === undefined) return
  if (answer === again && restored !== undefined) await restoreUndone(restored, services)
  await surface.reveal()
  await services.openSession(agentId, sessionId)
}

// ---- internals ---------------------------------------------------------------------------------------------------------

async function pickPrompt(
  open: OpenSession,
  { workbench: { dialogs }, branches }: BranchServices,
): Promise<{ prompt?: MessageEntry } | undefined> {
  const { state } = open.session
  const prompts = state.entries.filter(startsTurn).filter(({ turn }) => !isRewoundIn(open, turn))
  if (prompts.length === 0) throw new UnavailableError(l10n.t('No prompts have been sent yet.'))
  const items = prompts.reverse().map(prompt => {
    const count = open.changes.checkpoint(prompt.turn).length
    const description =
      count === 0 ? l10n.t('No changes since') : count === 1 ? l10n.t('1 file') : l10n.t('{0} files', count)
    return { label: excerptOf(prompt), description, prompt }
  })
  const branching: PickItem[] =
    branches.of(open.key).length > 0
      ? [{ label: `$(git-branch) ${l10n.t('Show Branches…')}`, alwaysShow: true }]
      : []
  return dialogs.pick<PickItem & { prompt?: MessageEntry }>([...items, ...branching], {
    title: l10n.t('Restore Files'),
    placeholder: l10n.t('Select the prompt to restore files to before'),
  })
}

/** Throws if the edited prompt can't be sent next, because prompts are waiting or another conversation is displayed. */
function throwIfNotNext({ surface: { controller }, open }: EntryTarget): void {
  throwWhileWorking(open)
  if (controller.current !== open)
    throw new UnavailableError(l10n.t('Another session is shown, so nothing was sent. Try again.'))
  if (controller.prompts.queue.prompts.some(({ state }) => !isReturned(state)))
    throw new UnavailableError(l10n.t('Send or remove the queued prompts first.'))
}

function throwWhileWorking({ session }: OpenSession): void {
  if (session.phase === 'ready' && session.state.activity !== 'idle')
    throw new UnavailableError(l10n.t('Stop the turn before restoring files.'))
}

function isRewoundIn({ session }: OpenSession, turn: number): boolean {
  return isRewound(
    rewindsOf(session.state).map(({ rewind }) => rewind),
    turn,
  )
}

function excerptOf({ blocks }: MessageEntry): string {
  const text = plainMessage(textOf(writtenBlocks(blocks)).trim().replace(/\s+/g, ' '))
  return shortened(text, MAX_EXCERPT)
}
