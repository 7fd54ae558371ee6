import * as l10n from '@vscode/l10n'
import type { AgentHosts, HostedAgentInfo } from '../../acp/start-hosted.ts'
import { DisposableStore } from '../../common/disposable.ts'
import { memoryOfTrees } from '../../common/processes/process-memory.ts'
import type { SessionId } from '../../common/session-key.ts'
import { visible } from '../../common/visible.ts'
import type { LocalSessions } from '../../history/local-sessions.ts'
import type { SessionManager } from '../../sessions/session-manager.ts'
import { recordedTitle } from '../../sessions/session-title.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { WindowSessions } from '../window-sessions.ts'
import type { PickItem, Workbench } from '../workbench.ts'
import type { PickedSession } from './pick-session.ts'

interface BackgroundCommandOptions {
  hosts: Pick<AgentHosts, 'list' | 'end' | 'others' | 'endOther'>
  records: Pick<LocalSessions, 'get'>
  manager: Pick<SessionManager, 'find'>
  windows: Pick<WindowSessions, 'refresh' | 'others'>
  workbench: Pick<Workbench, 'dialogs' | 'language'>
  /** Shows a session in its view or its window. */
  open: (session: PickedSession) => Promise<void>
}

type Item = PickItem & {
  /** Absent if this window can't connect to the session. */
  session?: PickedSession
  /** Whether a turn runs; absent if that is unknown. */
  isWorking?: boolean
  stop(): Promise<void>
}

/** *Show Background Sessions*: lists all agents that run outside of windows, with their sessions, and shows or stops them. */
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
    placeholder: l10n.t('Select an agent to show its session'),
    items: first,
    matchOnDescription: true,
    matchOnDetail: true,
    // the list stays open while a dialog asks
    ignoreFocusOut: true,
  })
  const stop = async (item: Item) => {
    if (!(await mayStop(options, item))) return
    box.busy = true
    await item.stop()
    const remaining = await itemsOf(options)
    box.busy = false
    box.items = remaining
    if (remaining.length === 0) box.hide()
  }
  const open = async (item: Item | undefined) => {
    if (!item) return
    box.hide()
    if (item.session) await options.open(item.session)
    else void dialogs.info(otherVersion())
  }
  try {
    await new Promise<void>((resolve, reject) => {
      let work = Promise.resolve()
      const run = (step: Promise<void>) => {
        work = step
        step.catch(reject)
      }
      owned.add(box.onDidAccept(item => run(open(item))))
      owned.add(box.onDidPressButton((_, item) => run(stop(item))))
      owned.add(box.onDidHide(() => queueMicrotask(() => void work.then(resolve, reject))))
      box.show()
    })
  } finally {
    owned.dispose()
  }
}

/** Asks before a running turn is stopped, since the turn can't be continued. Resolves to whether to stop. */
async function mayStop(
  { workbench: { dialogs } }: BackgroundCommandOptions,
  { label, isWorking }: Item,
): Promise<boolean> {
  if (isWorking === false) return true
  const name = label.replace(/^\$\(.*?\) /, '')
  const stop = l10n.t('Stop')
  const detail = isWorking
    ? l10n.t('A turn is running. It ends, too.')
    : l10n.t('A turn may be running. It ends, too.')
  return (await dialogs.confirm(l10n.t('Stop {0}?', name), { detail }, stop)) === stop
}

function otherVersion(): string {
  return l10n.t("They stop after their turns. This window can't connect to them.")
}

/** Returns a text that says where an agent is, and whether a turn runs. */
function placeOf(
  { manager, windows }: BackgroundCommandOptions,
  agent: HostedAgentInfo,
): Pick<Item, 'session' | 'isWorking'> {
  const { tag, sessions, hasExited } = agent
  const own = sessions.flatMap(sessionId => manager.find(tag.agentId, sessionId) ?? [])
  const others = windows
    .others()
    .filter(({ agentId, sessionId }) => agentId === tag.agentId && sessions.includes(sessionId))
  const isWorking =
    own.some(({ session, isBusy }) => isBusy || session.state.activity !== 'idle') ||
    others.some(({ indicator }) => indicator === 'running' || indicator === 'waiting')
  const [open] = own
  const [other] = others
  return {
    session: open ? { open } : other ? { other } : { background: agent },
    ...((hasExited || isWorking || (open && own.length === sessions.length)) && {
      isWorking: isWorking && !hasExited,
    }),
  }
}

/** Returns items for the running agents, the oldest first, and then for the hosts of other versions of Parley. */
async function itemsOf(options: BackgroundCommandOptions): Promise<Item[]> {
  const { hosts, windows, workbench } = options
  windows.refresh()
  const [listed, others] = await Promise.all([hosts.list(), hosts.others()])
  const agents = listed.sort((a, b) => a.since - b.since)
  const memory = await memoryOfTrees(agents.map(({ pid }) => pid))
  const date = new Intl.DateTimeFormat(workbench.language, { dateStyle: 'short', timeStyle: 'short' })
  const stopButton = { icon: 'debug-stop', tooltip: l10n.t('Stop') }
  const items = agents.map(agent => {
    const { id, pid, tag, cwd, since, isAttached, hasExited, sessions } = agent
    const used = memory.get(pid)
    const facts = [
      hasExited ? l10n.t('exited') : isAttached ? l10n.t('connected to a window') : l10n.t('no window'),
      l10n.t('since {0}', date.format(since)),
      ...(used === undefined ? [] : [l10n.t('{0} MB', Math.round(used / 1_000_000))]),
      cwd,
    ]
    return {
      ...placeOf(options, agent),
      stop: () => hosts.end(id),
      label: `$(server-process) ${visible(tag.name)}`,
      description: titlesOf(
        options,
        sessions.map(sessionId => ({ agentId: tag.agentId, sessionId })),
      ).join(' · '),
      detail: facts.join(' · '),
      buttons: [stopButton],
    }
  })
  const unknown = others.map(({ pid, sessions }) => ({
    stop: () => hosts.endOther(pid),
    label: `$(server-process) ${l10n.t('Agents of another version of Parley')}`,
    description: titlesOf(options, sessions).join(' · ') || l10n.t('Process {0}', pid),
    detail: otherVersion(),
    buttons: [stopButton],
  }))
  return [...items, ...unknown]
}

function titlesOf({ records }: BackgroundCommandOptions, sessions: readonly SessionId[]): string[] {
  return sessions.map(
    ({ agentId, sessionId }) =>
      visible(recordedTitle(records.get(agentId, sessionId)) ?? '') || l10n.t('Untitled session'),
  )
}
