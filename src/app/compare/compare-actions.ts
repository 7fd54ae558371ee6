import path from 'node:path'
import * as l10n from '@vscode/l10n'
import type { ComparedFiles } from '../../bridge/compare.ts'
import { messageOf, UnavailableError } from '../../common/errors.ts'
import { sessionKey } from '../../common/session-key.ts'
import { findWorktree, type Worktree } from '../../editor/worktrees/repository.ts'
import {
  type ChangedPath,
  changesBetween,
  changesOf,
  readTexts,
  type WorktreeChanges,
} from '../../editor/worktrees/worktree-changes.ts'
import type { ConversationSurface } from '../conversation/conversation-surface.ts'
import type { FileVersion } from '../workbench.ts'
import { applyToWorkspace, discardAll, discardOne } from '../worktrees/worktree-menu.ts'
import type { CompareOptions } from './compare-options.ts'
import type { CompareActions } from './compare-page.ts'
import { draftKeyOf, type ParticipantId } from './comparisons.ts'
import { sendTo } from './send-to.ts'
import { retryAgent, startInTab } from './start-agents.ts'

/** The maximum number of an agent's files that the page lists. */
const MAX_FILES = 200

interface ActionOptions extends CompareOptions {
  sideBar: ConversationSurface
}

/** Returns the actions of the page's buttons. Most of them reject with a sentence for the user. */
export function compareActions(options: ActionOptions): CompareActions {
  const { comparisons, records, sideBar, surfaces, workbench } = options
  const nameOf = (participantId: ParticipantId) => comparisons.at(participantId)!.agentName

  async function worktreeOf(participantId: ParticipantId): Promise<Worktree> {
    checkTrust()
    const { worktree } = comparisons.at(participantId)!
    const found = worktree && (await findWorktree(worktree.path).catch(() => undefined))
    if (found) return found
    throw new UnavailableError(
      worktree
        ? l10n.t('The worktree {0} no longer exists.', worktree.name)
        : l10n.t('{0} has no worktree yet.', nameOf(participantId)),
    )
  }

  function checkTrust(): void {
    if (workbench.isTrusted) return
    throw new UnavailableError(l10n.t("Agents don't start until you trust this workspace."))
  }

  /**
   * Whether the agent is being started, for example because the user pressed a button twice. Waits first for the prompt that an earlier
   * window may have left.
   */
  async function isStarting(participantId: ParticipantId): Promise<boolean> {
    await options.queues.claimed(draftKeyOf(participantId))
    return comparisons.isStarting(participantId)
  }

  return {
    sendTo: key => sendTo(options, key),
    async files(participantId) {
      const { worktree } = comparisons.at(participantId)!
      const found = worktree && (await findWorktree(worktree.path).catch(() => undefined))
      if (!found) return { ...NONE, isGone: true }
      return changesOf(found).then(summaryOf, error => ({ ...NONE, problem: messageOf(error) }))
    },
    async open(participantId) {
      const open = comparisons.sessionOf(participantId)
      if (open) return surfaces.reveal(open, open.session.requests.open[0]?.requestId)
      const { agentId, sessionId } = comparisons.at(participantId)!
      const record = sessionId === undefined ? undefined : records.get(agentId, sessionId)
      if (!record) throw new UnavailableError(l10n.t('The session was deleted.'))
      const surface = surfaces.withKey(sessionKey(agentId, record.sessionId)) ?? sideBar
      await surfaces.open(surface, opener => opener.reopen('restore', { ...record, agentId }))
    },
    async retry(participantId) {
      checkTrust()
      if (await isStarting(participantId)) return
      // if the start failed, the page shows the reason
      await retryAgent(options, participantId).catch(error => {
        if (comparisons.at(participantId)?.run.state !== 'failed') throw error
      })
    },
    async signIn(participantId) {
      checkTrust()
      const open = comparisons.sessionOf(participantId)
      if (open) await surfaces.reveal(open)
      else if (!(await isStarting(participantId))) await startInTab(options, participantId)
    },
    async changes(participantId, file) {
      const worktree = await worktreeOf(participantId)
      const all = (await changesOf(worktree)).files
      const files = file === undefined ? all : all.filter(one => one.path === file)
      const ids = files.flatMap(({ before, added }) =>
        before !== undefined && added !== undefined ? [before] : [],
      )
      const texts = await readTexts(worktree.path, ids)
      const shown = files.flatMap(one => {
        const before = one.before === undefined ? undefined : texts.get(one.before)
        // a diff without the old content of a binary file would show the file as new
        if (one.isRepository || (one.before !== undefined && before === undefined)) return []
        return [sidesOf(one, worktree.path, before !== undefined && { text: before })]
      })
      await show(
        workbench,
        l10n.t('Changes of {0}', nameOf(participantId)),
        shown,
        files.length - shown.length,
      )
    },
    async compareTwo(id, agents) {
      const participantIds = agents.map(agent => ({ id, agent }))
      const [one, other] = await Promise.all(participantIds.map(worktreeOf))
      const all = await changesBetween(one!.path, other!.path)
      const files = all.filter(file => !file.isRepository)
      await show(
        workbench,
        l10n.t('{0} compared with {1}', nameOf(participantIds[0]!), nameOf(participantIds[1]!)),
        files.map(file =>
          sidesOf(file, other!.path, file.kind !== 'added' && { file: path.join(one!.path, file.path) }),
        ),
        all.length - files.length,
      )
    },
    async apply(participantId) {
      const worktree = await worktreeOf(participantId)
      await applyToWorkspace(options, worktree, comparisons.get(participantId.id)!.from.top)
    },
    async discard(participantId) {
      await discardOne(options, await worktreeOf(participantId))
    },
    async discardOthers({ id, agent }) {
      checkTrust()
      const others = comparisons.get(id)!.participants.filter((_, at) => at !== agent)
      const found = await Promise.all(
        others.map(({ worktree }) => worktree && findWorktree(worktree.path).catch(() => undefined)),
      )
      await discardAll(
        options,
        found.filter(one => one !== undefined),
      )
    },
  }
}

async function show(
  { dialogs, editors }: CompareOptions['workbench'],
  title: string,
  files: Parameters<typeof editors.compareFiles>[0],
  notShown: number,
): Promise<void> {
  if (notShown > 0)
    void dialogs.info(
      notShown === 1
        ? l10n.t("1 file isn't shown, since it's binary, very large or another repository.")
        : l10n.t(
            "{0} files aren't shown, since they are binary, very large or other repositories.",
            notShown,
          ),
    )
  if (files.length > 0) await editors.compareFiles(files, title)
  else if (notShown === 0) void dialogs.info(l10n.t('There are no differences to show.'))
}

const NONE: ComparedFiles = { files: [], count: 0, added: 0, removed: 0 }

function summaryOf({ files, applied }: WorktreeChanges): ComparedFiles {
  const sum = (side: 'added' | 'removed') => files.reduce((total, file) => total + (file[side] ?? 0), 0)
  return {
    files: files.slice(0, MAX_FILES).map(({ before: _, isRepository: __, ...file }) => file),
    count: files.length,
    added: sum('added'),
    removed: sum('removed'),
    ...(applied && { applied }),
  }
}

function sidesOf({ path: name, kind }: ChangedPath, top: string, before: FileVersion | false) {
  const file = path.join(top, name)
  return { path: file, ...(before && { before }), ...(kind !== 'deleted' && { after: { file } }) }
}
