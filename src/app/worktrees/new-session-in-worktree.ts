import { stat } from 'node:fs/promises'
import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { messageOf, UnavailableError } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { realFolder } from '../../editor/folder-comparison.ts'
import { PathRules } from '../../editor/path-rules.ts'
import {
  createWorktree,
  freeName,
  listBranches,
  nameFrom,
  nameProblem,
} from '../../editor/worktrees/create-worktree.ts'
import { openRepository, type Repository } from '../../editor/worktrees/repository.ts'
import type { ConversationController } from '../../sessions/conversation-controller.ts'
import { pickAgent } from '../commands/pick-agent.ts'
import { type PickItem, settingOf, type Workbench } from '../workbench.ts'
import type { WorktreeCommandOptions } from './worktree-command-options.ts'

const MAX_BRANCHES = 500

/** Asks for the branch and the name, creates and prepares the worktree, and starts a session there. */
export async function newSessionInWorktree(options: WorktreeCommandOptions): Promise<void> {
  const { workbench, surfaces, worktrees } = options
  const { dialogs } = workbench
  // remembers the surface, since the user may go to another one in the meantime
  const surface = surfaces.active
  const agentId = await agentFor(options)
  if (agentId === undefined) return
  const found = await pickRepository(workbench, cwdOf(surface.controller))
  if (!found) return
  const { repository, within } = found
  const from = await pickBase(workbench, repository)
  if (!from) return
  const folder = settingOf(workbench, 'worktrees.folder')
  const draft = options.drafts.get(surface.controller.key).text
  const proposed = nameFrom(draft.trim() || (options.agents.get(agentId)?.name ?? ''))
  const name = await dialogs.input({
    title: l10n.t('New Session in Worktree'),
    prompt: l10n.t('Worktree name. The branch is named parley/<name>.'),
    value: await freeName(repository, folder, proposed),
    validate: value => nameProblem(value.trim()),
  })
  if (name === undefined) return
  const { worktree, notes } = await dialogs.progress(
    { title: l10n.t('Creating the worktree {0}…', name.trim()), where: 'notification' },
    () => createWorktree(repository, { name: name.trim(), from: from.commit, folder }),
  )
  void worktrees.refresh()
  if (notes.length > 0) void dialogs.info(notes.map(plainMessage).join(' '))
  if (!(await prepare(options, worktree.path, worktree.name))) return
  const cwd = await directoryIn(worktree.path, within)
  const place = surfaces.has(surface) ? surface : surfaces.active
  await surfaces.open(place, opener => opener.start(agentId, { cwd }))
}

/** Resolves to the workspace folder's path in a worktree; the worktree's root if the folder doesn't exist there. */
export async function directoryIn(worktree: string, within: string): Promise<string> {
  const inner = path.join(worktree, within)
  const isThere = await stat(inner).then(
    info => info.isDirectory(),
    () => false,
  )
  return isThere ? inner : worktree
}

/** Resolves to the agent for a session in a worktree; `undefined` if the user cancels. */
export async function agentFor({
  workbench,
  surfaces: { active },
  agents,
  accounts,
}: WorktreeCommandOptions): Promise<string | undefined> {
  await agents.ready()
  return (
    agents.defaultAgentId() ??
    active.controller.agentId ??
    pickAgent(workbench, agents, accounts, l10n.t('New Session with Agent'))
  )
}

/** Runs the setup command. Resolves to false if it failed and the user doesn't want to start a session. */
async function prepare(options: WorktreeCommandOptions, cwd: string, name: string): Promise<boolean> {
  const command = await setupCommand(options)
  if (command === undefined) return true
  const { workbench } = options
  const run = runSetup(workbench, command, cwd, name)
  const problem = await workbench.dialogs.progress(
    { title: l10n.t('Setting up the worktree {0}…', name), where: 'notification' },
    () => run,
  )
  if (problem === undefined) return true
  const start = l10n.t('Start Session')
  return (await workbench.dialogs.warn(problem, start)) === start
}

/** Resolves to the command that prepares new worktrees; `undefined` if there is none or the user doesn't agree to run it. */
export async function setupCommand({
  workbench,
  settings,
  consent,
}: Pick<WorktreeCommandOptions, 'workbench' | 'settings' | 'consent'>): Promise<string | undefined> {
  const command = settingOf(workbench, 'worktrees.setupCommand').trim()
  if (command === '') return undefined
  const scope = settings.layers('worktrees.setupCommand').at(-1)?.scope
  const isOfWorkspace = scope === 'workspace' || scope === 'folder'
  return isOfWorkspace && !(await consent.setup(command)) ? undefined : command
}

/** Prepares a worktree. Resolves to a sentence that says what went wrong, if anything. */
export async function runSetup(
  workbench: Workbench,
  command: string,
  cwd: string,
  name: string,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const code = await workbench.runInTerminal(command, cwd, l10n.t('Set up {0}', name), signal)
  if (code === 0) return undefined
  return code === undefined
    ? l10n.t('The setup command of the worktree {0} was stopped.', name)
    : l10n.t(
        'The setup command of the worktree {0} failed with code {1}. The terminal shows its output.',
        name,
        code,
      )
}

interface FoundRepository {
  repository: Repository
  /** the path of the workspace folder in the repository */
  within: string
}

/** Returns the folder of a view's session, or of the session that is being opened. */
export function cwdOf({ current, opener }: ConversationController): string | undefined {
  return current?.plan.setup.cwd ?? opener.expected?.cwd
}

/**
 * Resolves to the repository of the workspace, or of the session that works in `cwd`, which comes first if the user has to choose. Resolves
 * to `undefined` if the user cancels. Rejects with the reason if there is no repository.
 */
export async function pickRepository(
  workbench: Workbench,
  cwd: string | undefined,
): Promise<FoundRepository | undefined> {
  const folders = workbench.folders
  if (folders.length === 0) throw new UnavailableError(l10n.t('Open a folder with a Git repository first.'))
  const rules = new PathRules()
  const found = new Map<string, FoundRepository & { name: string }>()
  const problems: string[] = []
  const add = async (name: string, folder: string, repository: Repository) => {
    const within = rules.relative(await realFolder(repository.top), await realFolder(folder))
    if (!found.has(repository.top)) found.set(repository.top, { repository, within, name })
  }
  for (const { name, path: folder } of folders) {
    try {
      await add(name, folder, await openRepository(folder))
    } catch (error) {
      problems.push(messageOf(error))
    }
  }
  const own = cwd === undefined ? undefined : await openRepository(cwd).catch(() => undefined)
  // a session in a worktree belongs to the repository from which the worktree was made
  const isOwn = (one: FoundRepository) => own !== undefined && rules.same(one.repository.common, own.common)
  if (own && ![...found.values()].some(isOwn)) await add(path.basename(own.top), cwd!, own)
  const all = [...found.values()]
  if (all.length === 0) throw new UnavailableError(problems[0]!)
  if (all.length === 1) return all[0]
  const items = [...all.filter(isOwn), ...all.filter(one => !isOwn(one))].map(one => ({
    label: one.name,
    description: one.repository.top,
    one,
  }))
  const picked = await workbench.dialogs.pick(items, {
    title: l10n.t('Repository'),
    placeholder: l10n.t('Select the repository'),
    matchOnDescription: true,
  })
  return picked?.one
}

async function pickBase(
  { dialogs }: Workbench,
  repository: Repository,
): Promise<{ commit: string } | undefined> {
  const { head, branch } = repository
  const branches = (await listBranches(repository))
    .filter(({ name }) => name !== branch)
    .slice(0, MAX_BRANCHES)
  const items: Array<PickItem & { commit: string }> = [
    {
      label: l10n.t('Current commit'),
      icon: 'git-commit',
      description: [branch, head.slice(0, 7)].filter(Boolean).join(' · '),
      detail: l10n.t('Without the uncommitted changes of the workspace'),
      commit: head,
    },
    ...(branches.length > 0 ? [{ label: l10n.t('Branches'), isSeparator: true, commit: '' }] : []),
    ...branches.map(({ name, commit }) => ({ label: name, icon: 'git-branch', commit })),
  ]
  return dialogs.pick(items, {
    title: l10n.t('New Session in Worktree'),
    placeholder: l10n.t('Select what the worktree starts from'),
    matchOnDescription: true,
  })
}
