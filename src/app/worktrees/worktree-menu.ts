import path from 'node:path'
import * as l10n from '@vscode/l10n'
import { messageOf, UnavailableError } from '../../common/errors.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { insideCheck } from '../../editor/folder-comparison.ts'
import { PathRules } from '../../editor/path-rules.ts'
import {
  checkNoHistory,
  DISCARDED_WORKTREE_DAYS,
  type DiscardedWorktree,
  discardWorktree,
  listDiscarded,
  restoreDiscarded,
} from '../../editor/worktrees/discarded-worktrees.ts'
import {
  currentBranch,
  findWorktree,
  isEmpty,
  listWorktrees,
  openRepository,
  type Repository,
  readWorktreeState,
  removeWorktree,
  type Worktree,
  type WorktreeState,
  writeRecord,
} from '../../editor/worktrees/repository.ts'
import {
  applyWorktree,
  commitAll,
  conflictsIn,
  createBranch,
  mergeWorktree,
} from '../../editor/worktrees/use-worktree.ts'
import { CommandId } from '../ids.ts'
import { sessionRoots } from '../window-sessions.ts'
import { type PickItem, settingOf } from '../workbench.ts'
import { directoriesOf } from './hosted-directories.ts'
import { agentFor, cwdOf, pickRepository } from './new-session-in-worktree.ts'
import type { WorktreeCommandOptions } from './worktree-command-options.ts'

/** The maximum number of names in a dialog. */
const MAX_NAMES = 10

interface Action extends PickItem {
  run?: () => Promise<unknown> | unknown
}

/** Shows a menu with all actions for the worktree of the active session, or else for a worktree that the user selects. */
export async function showWorktree(options: WorktreeCommandOptions): Promise<void> {
  const { current } = options.surfaces.active.controller
  const own = current && (await findWorktree(current.plan.setup.cwd))
  const worktree = own ?? (await pickWorktree(options))
  if (worktree) await new WorktreeMenu(options, worktree, own !== undefined).show()
}

/** *Apply to Workspace* for a worktree that was created from the work tree at `top`. */
export async function applyToWorkspace(
  options: WorktreeCommandOptions,
  worktree: Worktree,
  top: string,
): Promise<void> {
  await new WorktreeMenu(options, worktree, false).apply(top)
}

/** *Discard…* for a worktree, or *Remove Worktree* if the worktree is empty. */
export async function discardOne(options: WorktreeCommandOptions, worktree: Worktree): Promise<void> {
  await new WorktreeMenu(options, worktree, false).discard()
  void options.worktrees.refresh()
}

/** Discards several worktrees after one question. Copies of them are kept for some time. */
export async function discardAll(
  options: WorktreeCommandOptions,
  worktrees: readonly Worktree[],
): Promise<void> {
  const { dialogs } = options.workbench
  const [only, ...others] = worktrees
  if (!only) return
  if (others.length === 0) return discardOne(options, only)
  const all = await Promise.all(
    worktrees.map(async worktree => {
      const state = await readWorktreeState(worktree)
      return { worktree, state, menu: new WorktreeMenu(options, worktree, false) }
    }),
  )
  const check = async () => {
    for (const { menu } of all) await menu.checkTurns()
  }
  await check()
  for (const { state } of all) checkNoHistory(state.nested)
  const discard = l10n.t('Discard Worktrees')
  const text = l10n.t('Discard {0} worktrees and their changes?', all.length)
  const detail = [
    all.map(({ worktree, state }) => `${worktree.name}: ${contents(state)}`).join('\n'),
    restorableText(),
    ...all.flatMap(({ state }) => (state.ignored.length > 0 ? [ignoredText(state)] : [])),
  ].join('\n\n')
  if ((await dialogs.confirm(text, { detail }, discard)) !== discard) return
  await check()
  const failures: string[] = []
  await dialogs.progress({ title: l10n.t('Discarding worktrees…'), where: 'notification' }, async () => {
    for (const { worktree, state, menu } of all) {
      try {
        const repository = await openRepository(worktree.path)
        await menu.checkTurns()
        // the agent may have changed the worktree while the question was open or while the other worktrees were discarded
        const { ignored } = state
        if (isEmpty(await readWorktreeState(worktree)))
          await removeWorktree(repository, worktree, { ignored })
        else await discardWorktree(repository, worktree, { ignored })
      } catch (error) {
        failures.push(`${worktree.name}: ${messageOf(error)}`)
      }
    }
  })
  void options.worktrees.refresh()
  if (failures.length > 0) {
    const done = all.length - failures.length
    throw new Error(
      l10n.t('Discarded {0} of {1} worktrees. These stay: {2}', done, all.length, failures.join(' ')),
    )
  }
  dialogs.showStatus(l10n.t('Discarded {0} worktrees', all.length))
}

async function pickWorktree(options: WorktreeCommandOptions): Promise<Worktree | undefined> {
  const { workbench, surfaces, clock } = options
  const found = await pickRepository(workbench, cwdOf(surfaces.active.controller))
  if (!found) return undefined
  const { repository } = found
  const ageOf = (time: number) => clock.ageOf(time)
  const [all, discarded] = await Promise.all([listWorktrees(repository), listDiscarded(repository, ageOf)])
  const items: Array<Action & { worktree?: Worktree }> = [
    ...all.map(worktree => ({
      label: worktree.name,
      icon: 'repo',
      description: worktree.current ?? worktree.head.slice(0, 7),
      detail: worktree.path,
      worktree,
    })),
    {
      label: l10n.t('New Session in Worktree…'),
      icon: 'add',
      run: () => workbench.execute(CommandId.newSessionInWorktree),
    },
  ]
  if (discarded.length > 0) {
    items.push({
      label: l10n.t('Restore Discarded Worktree…'),
      icon: 'discard',
      run: () => pickDiscarded(options, repository, discarded),
    })
  }
  const picked = await workbench.dialogs.pick(items, {
    title: l10n.t('Worktrees'),
    placeholder: l10n.t('Select a worktree'),
    matchOnDescription: true,
  })
  await picked?.run?.()
  return picked?.worktree
}

async function pickDiscarded(
  options: WorktreeCommandOptions,
  repository: Repository,
  discarded: readonly DiscardedWorktree[],
): Promise<void> {
  const { dialogs, language } = options.workbench
  const items = discarded.map(one => ({
    label: one.name,
    icon: 'repo',
    description: l10n.t('Discarded {0}', new Date(one.at).toLocaleString(language)),
    one,
  }))
  const picked = await dialogs.pick(items, { placeholder: l10n.t('Select the worktree to restore') })
  if (picked) await restore(options, repository, picked.one)
}

async function restore(
  { workbench, worktrees }: WorktreeCommandOptions,
  repository: Repository,
  discarded: Pick<DiscardedWorktree, 'ref' | 'name'>,
): Promise<void> {
  const { dialogs, execute } = workbench
  const worktree = await dialogs.progress(
    { title: l10n.t('Restoring the worktree {0}…', discarded.name), where: 'notification' },
    () => restoreDiscarded(repository, discarded, { folder: settingOf(workbench, 'worktrees.folder') }),
  )
  void worktrees.refresh()
  const more = l10n.t('Worktree…')
  void dialogs
    .info(l10n.t('Restored the worktree {0} with its changes.', worktree.name), more)
    .then(pressed => {
      if (pressed === more) return execute(CommandId.worktree)
    })
}

class WorktreeMenu {
  readonly #options: WorktreeCommandOptions
  #worktree: Worktree
  /** whether the active session works in the worktree */
  readonly #isActive: boolean

  constructor(options: WorktreeCommandOptions, worktree: Worktree, isActive: boolean) {
    this.#options = options
    this.#worktree = worktree
    this.#isActive = isActive
  }

  async show(): Promise<void> {
    const { workbench, worktrees, comparisonOf } = this.#options
    const { path: top, name, current, head } = this.#worktree
    const comparison = comparisonOf(top)
    const repository = await openRepository(top)
    const [state, target] = await Promise.all([readWorktreeState(this.#worktree), this.#target(repository)])
    const branch = target && (await currentBranch(target))
    const empty = isEmpty(state)
    const items: Action[] = [
      ...(this.#isActive
        ? [
            {
              label: l10n.t('Review Changes'),
              icon: 'diff-multiple',
              run: () => workbench.execute(CommandId.reviewChanges),
            },
          ]
        : []),
      ...(comparison
        ? [
            {
              label: l10n.t('Show Comparison'),
              icon: 'git-compare',
              detail: l10n.t('Compares what the agents changed for the same prompt'),
              run: () => comparison.show(),
            },
          ]
        : []),
      // a harmless action comes first, because Enter accepts the first item, and applying can't be undone
      {
        label: l10n.t('New Session Here'),
        icon: 'add',
        detail: l10n.t('Starts another session in the worktree'),
        run: () => this.#start(),
      },
      ...(target === undefined
        ? []
        : [
            {
              label: l10n.t('Apply to Workspace'),
              icon: 'git-stash-apply',
              detail: l10n.t('Applies all changes to {0} as uncommitted changes', target),
              run: () => this.#apply(target),
            },
            ...(branch === undefined
              ? []
              : [
                  {
                    label: l10n.t('Merge into {0}…', branch),
                    icon: 'git-merge',
                    detail: l10n.t('Merges {0} in {1}', current ?? head.slice(0, 7), target),
                    run: () => this.#merge(state, target, branch),
                  },
                ]),
          ]),
      {
        label: l10n.t('Create Branch…'),
        icon: 'git-branch',
        detail: l10n.t('Continues on a branch that stays when the worktree is removed'),
        run: () => this.#branch(repository, state),
      },
      { label: l10n.t('Open in New Window'), icon: 'empty-window', run: () => this.#openWindow() },
      empty
        ? {
            label: l10n.t('Remove Worktree'),
            icon: 'trash',
            detail: l10n.t('It has no changes or commits of its own'),
            run: () => this.#remove(repository, state),
          }
        : {
            label: l10n.t('Discard…'),
            icon: 'trash',
            ...(state.nested.length > 0 && {
              detail: l10n.t("Isn't possible, since no copy of repositories in it can be kept"),
            }),
            run: () => this.#discard(repository, state),
          },
    ]
    const picked = await workbench.dialogs.pick(items, {
      title: [name, current].filter(Boolean).join(' · '),
      placeholder: contents(state),
    })
    try {
      await picked?.run?.()
    } finally {
      void worktrees.refresh()
    }
  }

  /** Resolves to the work tree of the same repository that is open in this window, or else to the main work tree. */
  async #target(repository: Repository): Promise<string | undefined> {
    const rules = new PathRules()
    const folders = [...this.#folders(), repository.main]
    return this.#find(repository, folders, top => !rules.same(top, this.#worktree.path))
  }

  #folders(): string[] {
    return this.#options.workbench.folders.map(one => one.path)
  }

  /** Resolves to the first wanted work tree of the repository among the work trees of these folders. */
  async #find(
    { common }: Repository,
    folders: readonly string[],
    isWanted: (top: string) => boolean,
  ): Promise<string | undefined> {
    const rules = new PathRules()
    for (const folder of folders) {
      const found = await openRepository(folder).catch(() => undefined)
      if (found && rules.same(found.common, common) && isWanted(found.top)) return found.top
    }
    return undefined
  }

  /** Applies the changes to the work tree at `top` of the same repository, if that is open. */
  async apply(top: string): Promise<void> {
    const rules = new PathRules()
    const repository = await openRepository(this.#worktree.path)
    const target = await this.#find(repository, this.#folders(), found => rules.same(found, top))
    if (target === undefined) {
      throw new UnavailableError(
        l10n.t("The folder {0}, which the worktree was made from, isn't open in this window.", top),
      )
    }
    await this.#apply(target)
  }

  async discard(): Promise<void> {
    const [repository, state] = await Promise.all([
      openRepository(this.#worktree.path),
      readWorktreeState(this.#worktree),
    ])
    await (isEmpty(state) ? this.#remove(repository, state) : this.#discard(repository, state))
  }

  async #start(): Promise<void> {
    const { surfaces } = this.#options
    const { active } = surfaces
    const agentId = await agentFor(this.#options)
    if (agentId === undefined) return
    await surfaces.open(active, opener => opener.start(agentId, { cwd: this.#worktree.path }))
  }

  async #openWindow(): Promise<void> {
    const { path: top } = this.#worktree
    await writeRecord(top, { ...this.#worktree, isOpened: true })
    await this.#options.workbench.openFolder(top)
  }

  async #apply(target: string): Promise<void> {
    const { workbench, documents } = this.#options
    const { dialogs } = workbench
    const mayWrite: Parameters<typeof applyWorktree>[2] = async ({ files, conflicts }) => {
      const paths = files.map(file => path.join(target, file))
      const unsaved = paths.filter(
        file => documents.find([file])?.isDirty() || documents.isUnsavedElsewhere([file]),
      )
      if (unsaved.length > 0) {
        const named = names(unsaved.map(file => path.relative(target, file)))
        throw new UnavailableError(
          l10n.t('Save these files or discard their unsaved changes, then apply again: {0}', named),
        )
      }
      if (conflicts.length === 0) return true
      const apply = l10n.t('Apply with Conflicts')
      const text = l10n.t(
        'Some changes conflict with those of the workspace. Apply all and resolve the conflicts?',
      )
      const detail = l10n.t('Files with conflicts:\n{0}', names(conflicts, '\n'))
      return (await dialogs.confirm(text, { detail }, apply)) === apply
    }
    const applied = await dialogs.progress(
      {
        title: l10n.t('Applying the changes of the worktree {0}…', this.#worktree.name),
        where: 'notification',
      },
      () => applyWorktree(this.#worktree, target, mayWrite),
    )
    if (!applied) return
    const { files, conflicts } = applied
    if (conflicts.length > 0) {
      await this.#resolve(target, conflicts[0]!)
      return
    }
    if (files.length === 0)
      void dialogs.info(l10n.t('The workspace already has all changes of the worktree.'))
    else {
      const show = l10n.t('Show Source Control')
      const text =
        files.length === 1
          ? l10n.t('Applied the changes to 1 file.')
          : l10n.t('Applied the changes to {0} files.', files.length)
      void dialogs.info(text, show).then(pressed => {
        if (pressed === show) return workbench.execute('workbench.view.scm')
      })
    }
  }

  async #resolve(target: string, file: string): Promise<void> {
    const { dialogs, editors, execute } = this.#options.workbench
    const resolve = l10n.t('Resolve in Merge Editor')
    const text = l10n.t('There are conflicts to resolve. Source Control lists them.')
    await execute('workbench.view.scm')
    // not awaited, so that views update immediately and not when the user closes the message
    void dialogs
      .warn(text, resolve)
      .then(pressed => (pressed === resolve ? editors.openConflict(path.join(target, file)) : undefined))
      .catch(error => dialogs.error(plainMessage(messageOf(error))))
  }

  async #merge(state: WorktreeState, target: string, branch: string): Promise<void> {
    const { dialogs } = this.#options.workbench
    await this.#checkIdle(state)
    if (state.changed.length > 0 && !(await this.#commit(l10n.t('Merge into {0}', branch)))) return
    const merged = await dialogs.progress(
      { title: l10n.t('Merging the worktree {0}…', this.#worktree.name), where: 'notification' },
      () => mergeWorktree(this.#worktree, target),
    )
    if (merged === 'conflicts') {
      await this.#resolve(target, (await conflictsIn(target))[0]!)
      return
    }
    const name = this.#worktree.current ?? this.#worktree.name
    void dialogs.info(
      merged === 'merged'
        ? l10n.t('Merged {0} into {1}.', name, branch)
        : l10n.t('{0} already has all commits of {1}.', branch, name),
    )
  }

  async #branch(repository: Repository, state: WorktreeState): Promise<void> {
    const { dialogs } = this.#options.workbench
    await this.#checkIdle(state)
    const name = await dialogs.input({
      title: l10n.t('Create Branch'),
      prompt: l10n.t('Branch name'),
      value: this.#worktree.name,
    })
    if (name === undefined || name.trim() === '') return
    this.#worktree = await createBranch(repository, this.#worktree, name.trim())
    if (state.changed.length > 0) await this.#commit(l10n.t('Create Branch'))
    void dialogs.info(l10n.t('The worktree {0} is on the branch {1} now.', this.#worktree.name, name.trim()))
  }

  /** Commits the changes of the worktree. Resolves to false if the user cancels. */
  async #commit(title: string): Promise<boolean> {
    const { current } = this.#options.surfaces.active.controller
    const known = this.#isActive && current ? current.session.state.title : undefined
    const message = await this.#options.workbench.dialogs.input({
      title,
      prompt: l10n.t("Commit message for the uncommitted changes. Git hooks don't run."),
      value: known?.split('\n')[0] ?? this.#worktree.name,
    })
    if (message === undefined || message.trim() === '') return false
    await this.checkTurns()
    this.#worktree = await commitAll(this.#worktree, message)
    return true
  }

  async #remove(repository: Repository, state: WorktreeState): Promise<void> {
    const { dialogs } = this.#options.workbench
    await this.checkTurns()
    if (state.ignored.length > 0) {
      const remove = l10n.t('Remove Worktree')
      const text = l10n.t('Remove the worktree {0}?', this.#worktree.name)
      if ((await dialogs.confirm(text, { detail: ignoredText(state) }, remove)) !== remove) return
      await this.checkTurns()
    }
    // the menu was open for a while, so `removeWorktree` compares the ignored files again
    await removeWorktree(repository, this.#worktree, { ignored: state.ignored })
    dialogs.showStatus(l10n.t('Removed the worktree {0}', this.#worktree.name))
  }

  async #discard(repository: Repository, state: WorktreeState): Promise<void> {
    const { dialogs } = this.#options.workbench
    await this.checkTurns()
    checkNoHistory(state.nested)
    const { name } = this.#worktree
    const discard = l10n.t('Discard Worktree')
    const detail = [
      contents(state),
      names(state.changed, '\n'),
      restorableText(),
      state.ignored.length > 0 ? ignoredText(state) : '',
    ]
    const text = l10n.t('Discard the worktree {0} and its changes?', name)
    const shown = detail.filter(part => part !== '').join('\n\n')
    if ((await dialogs.confirm(text, { detail: shown }, discard)) !== discard) return
    await this.checkTurns()
    const ref = await dialogs.progress(
      { title: l10n.t('Discarding the worktree {0}…', name), where: 'notification' },
      () => discardWorktree(repository, this.#worktree, { ignored: state.ignored }),
    )
    const undo = l10n.t('Undo')
    void dialogs
      .info(l10n.t('Discarded the worktree {0}.', name), undo)
      .then(async pressed => {
        if (pressed !== undo) return
        const main = await this.#target(repository)
        const from =
          main === undefined ? { ...repository, top: repository.common } : await openRepository(main)
        await restore(this.#options, from, { ref, name })
      })
      .catch(error => dialogs.error(messageOf(error)))
  }

  /** Rejects if an agent works in the worktree, since the agent's writes during the removal would be lost. */
  async checkTurns(): Promise<void> {
    const { openSessions, surfaces, comparisons, windows, hosts, records } = this.#options
    const check = (isFree: boolean, text: string) => {
      if (!isFree) throw new UnavailableError(text)
    }
    windows.refresh()
    const unattached = (await hosts.list().catch(() => [])).filter(one => !one.isAttached && !one.hasExited)
    const unattachedIn = unattached.flatMap(one => directoriesOf(one, records))
    const starting = () => [
      ...comparisons.starting(),
      ...surfaces.list().flatMap(({ controller: { opener } }) => (opener.step && opener.expected?.cwd) ?? []),
    ]
    const isIn = await insideCheck(this.#worktree.path, [
      ...starting(),
      ...openSessions.list().flatMap(sessionRoots),
      ...windows.others().map(({ cwd }) => cwd),
      ...windows.busy(),
      ...unattachedIn,
    ])
    const here = openSessions.list().filter(one => sessionRoots(one).some(isIn))
    const others = windows.others().filter(({ cwd }) => isIn(cwd))
    check(
      here.every(({ session }) => session.state.activity === 'idle'),
      l10n.t('A turn is running in the worktree. Stop it first.'),
    )
    check(
      !starting().some(isIn),
      l10n.t('A session is being started in the worktree. Wait until it has started, or cancel it first.'),
    )
    check(
      others.every(({ indicator }) => indicator === 'done' || indicator === 'failed'),
      l10n.t('A turn in another window is running in the worktree. Stop it first.'),
    )
    check(
      !here.some(({ isBusy }) => isBusy),
      l10n.t('Background tasks or commands of a session are running in the worktree. Stop them first.'),
    )
    check(
      !windows.busy().some(isIn),
      l10n.t('Background tasks or commands in another window are running in the worktree. Stop them first.'),
    )
    check(
      !unattachedIn.some(isIn),
      l10n.t(
        'An agent is running in the background in the worktree. Stop it first with Parley: Show Background Sessions.',
      ),
    )
  }

  async #checkIdle({ isBusy }: WorktreeState): Promise<void> {
    await this.checkTurns()
    if (isBusy) {
      throw new UnavailableError(
        l10n.t('A merge or rebase is in progress in the worktree. Finish or abort it first.'),
      )
    }
  }
}

/** Returns a short description of a worktree's content. */
function contents({ changed, commits, isBusy, nested }: WorktreeState): string {
  const parts = [
    changed.length === 1
      ? l10n.t('1 changed file')
      : changed.length > 0 && l10n.t('{0} changed files', changed.length),
    commits === 1 ? l10n.t('1 commit') : commits > 0 && l10n.t('{0} commits', commits),
    isBusy && l10n.t('a merge or rebase in progress'),
    nested.length > 0 && l10n.t('repositories: {0}', names(nested)),
  ]
  return parts.filter(Boolean).join(', ') || l10n.t('No changes')
}

function restorableText(): string {
  return l10n.t(
    "A copy is kept for {0} days. To restore it, switch to a session that isn't in a worktree and run Parley: Worktree….",
    DISCARDED_WORKTREE_DAYS,
  )
}

function ignoredText({ ignored }: WorktreeState): string {
  return l10n.t('These files are ignored by Git and will be permanently deleted:\n{0}', names(ignored, '\n'))
}

function names(files: readonly string[], separator = ', '): string {
  const shown = files.slice(0, MAX_NAMES).map(plainMessage)
  const more = files.length - shown.length
  return [...shown, ...(more > 0 ? [l10n.t('and {0} more', more)] : [])].join(separator)
}
