import * as l10n from '@vscode/l10n'
import type { AgentHosts } from '../../acp/start-hosted.ts'
import { DisposableStore } from '../../common/disposable.ts'
import { memoryOfTrees } from '../../common/processes/process-memory.ts'
import { visible } from '../../common/visible.ts'
import type { LocalSessions } from '../../history/local-sessions.ts'
import { recordedTitle } from '../../sessions/session-title.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { PickItem, Workbench } from '../workbench.ts'

interface BackgroundCommandOptions {
  hosts: Pick<AgentHosts, 'list' | 'end' | 'others' | 'endOther'>
  records: Pick<LocalSessions, 'get'>
  workbench: Pick<Workbench, 'dialogs' | 'language'>
}

type Item = PickItem & { stop(): Promise<void> }

/** *Show Background Sessions*: all agents that run outside of the windows, with their sessions; stops them. */
export function backgroundCommand(options: BackgroundCommandOptions) {
  return {
    [CommandId.showBackgroundSessions]: () => show(options),
  } satisfies Partial<CommandHandlers>
}

async function show(options: BackgroundCommandOptions): Promise<void> {
  const { dialogs } = options.workbench
  const first = await itemsOf(options)
  if (first.length === 0) {
    void dialogs.info(l10n.t('No agents are kept running.'))
    return
  }
  const owned = new DisposableStore()
  const box = owned.add(dialogs.createPicker<Item>())
  Object.assign(box, {
    title: l10n.t('Background Sessions'),
    placeholder: l10n.t('Select an agent to stop it'),
    items: first,
    matchOnDescription: true,
    matchOnDetail: true,
  })
  const stop = async (item: Item | undefined) => {
    if (!item) return
    box.busy = true
    await item.stop()
    const left = await itemsOf(options)
    box.busy = false
    box.items = left
    if (left.length === 0) box.hide()
  }
  try {
    await new Promise<void>((resolve, reject) => {
      owned.add(box.onDidAccept(item => void stop(item).catch(reject)))
      owned.add(box.onDidPressButton((_, item) => void stop(item).catch(reject)))
      owned.add(box.onDidHide(() => resolve()))
      box.show()
    })
  } finally {
    owned.dispose()
  }
}

/** The oldest first; then the hosts of other versions, which don't tell what they run. */
async function itemsOf({ hosts, records, workbench }: BackgroundCommandOptions): Promise<Item[]> {
  const [listed, others] = await Promise.all([hosts.list(), hosts.others()])
  const agents = listed.sort((a, b) => a.since - b.since)
  const memory = await memoryOfTrees(agents.map(({ pid }) => pid))
  const date = new Intl.DateTimeFormat(workbench.language, { dateStyle: 'short', timeStyle: 'short' })
  const stopButton = { icon: 'debug-stop', tooltip: l10n.t('Stop') }
  const items = agents.map(({ id, pid, tag, cwd, since, isAttached, hasExited, sessions }) => {
    const titles = sessions.map(sessionId => recordedTitle(records.get(tag.agentId, sessionId)))
    const used = memory.get(pid)
    const facts = [
      hasExited ? l10n.t('exited') : isAttached ? l10n.t('connected to a window') : l10n.t('no window'),
      l10n.t('since {0}', date.format(since)),
      ...(used === undefined ? [] : [l10n.t('{0} MB', Math.round(used / 1_000_000))]),
      cwd,
    ]
    return {
      stop: () => hosts.end(id),
      label: `$(server-process) ${visible(tag.name)}`,
      description: titles.map(title => visible(title ?? '') || l10n.t('Untitled session')).join(' · '),
      detail: facts.join(' · '),
      buttons: [stopButton],
    }
  })
  const unknown = others.map(pid => ({
    stop: () => hosts.endOther(pid),
    label: `$(server-process) ${l10n.t('Agents of another version of Parley')}`,
    description: l10n.t('Process {0}', pid),
    detail: l10n.t("They stop after their turns. This window can't connect to them."),
    buttons: [stopButton],
  }))
  return [...items, ...unknown]
}
