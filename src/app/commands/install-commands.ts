import * as l10n from '@vscode/l10n'
import { agentIdOf } from '../../agents/presets.ts'
import type { InstallManager } from '../../agents/registry/install-manager.ts'
import type { RegistryAgent } from '../../agents/registry/registry-format.ts'
import { UnavailableError } from '../../common/errors.ts'
import type { Logger } from '../../common/logger.ts'
import { plainMessage } from '../../common/plain-message.ts'
import { withoutIcons } from '../../common/visible.ts'
import { helpLabel, planText } from '../agents/agent-offers.ts'
import { type CommandHandlers, CommandId } from '../ids.ts'
import type { AgentLogs } from '../platform.ts'
import type { Dialogs, Picker, PickItem, Workbench } from '../workbench.ts'

interface InstallCommandOptions {
  installs: InstallManager
  logs: Pick<AgentLogs, 'show'>
  agentLogger: (agentId: string, name: string) => Logger
  workbench: Workbench
  /** Returns the ids of running agents in this window that share files with this agent: the agent itself and its accounts. */
  running: (agentId: string) => string[]
  restart: (agentId: string) => Promise<void>
  /** Deletes the stored sign-in values of a removed agent. */
  forget: (agentId: string) => Promise<void>
}

type Item = PickItem & { id?: string }

/** Returns *Install Agent…*, *Update Agent…* and *Remove Agent…*. Their argument is the agent's id in the registry. */
export function installCommands(options: InstallCommandOptions) {
  const { installs, workbench } = options
  const { dialogs } = workbench
  const on = (run: (id: string | undefined) => Promise<void>) => async (wanted?: unknown) => {
    if (!workbench.isTrusted)
      throw new UnavailableError(
        l10n.t("Agents can't be installed in Restricted Mode. Trust this workspace first."),
      )
    await run(typeof wanted === 'string' ? wanted : undefined)
  }
  return {
    [CommandId.installAgent]: on(async wanted => {
      const id = wanted ?? (await pickFromRegistry(dialogs, installs))
      if (id !== undefined) await install(options, id)
    }),
    [CommandId.updateAgent]: on(async wanted => {
      const id = wanted ?? (await pickUpdate(dialogs, installs))
      if (id !== undefined) await install(options, id)
    }),
    [CommandId.removeAgent]: on(async wanted => {
      await installs.load()
      const id = wanted ?? (await pickInstalled(dialogs, installs))
      if (id === undefined) return
      const agent = installs.installed.find(one => one.id === id)
      if (!agent) throw new UnavailableError(l10n.t("{0} isn't installed by Parley.", id))
      const remove = l10n.t('Remove')
      const isRunning = () => options.running(agentIdOf(agent.id)).length > 0
      const answer = await dialogs.confirm(
        plainMessage(l10n.t('Remove {0} {1}?', agent.name, agent.version)),
        {
          detail: isRunning()
            ? l10n.t(
                'The agent is running. Its open sessions continue, and its files are deleted when it ends. The values stored for signing in are deleted.',
              )
            : l10n.t('The files that Parley installed and the values stored for signing in are deleted.'),
        },
        remove,
      )
      if (answer !== remove) return
      await installs.remove(agent.id)
      await options.forget(agentIdOf(agent.id))
      const text = isRunning()
        ? l10n.t('{0} was removed, but still runs. Its files are deleted when it ends.', agent.name)
        : l10n.t('{0} was removed.', agent.name)
      void dialogs.info(plainMessage(text))
    }),
  } satisfies Partial<CommandHandlers>
}

/** Lists all agents of the registry, with the command that installs each. Shows the stored registry first, and then the current one. */
async function pickFromRegistry(dialogs: Dialogs, installs: InstallManager): Promise<string | undefined> {
  if (!installs.isOn)
    throw new UnavailableError(
      l10n.t('The agent registry is turned off. Set “parley.agentRegistry” to turn it on.'),
    )
  const box = dialogs.createPicker<Item>()
  box.placeholder = l10n.t('Select an agent to install')
  box.matchOnDescription = true
  box.matchOnDetail = true
  box.busy = true
  const fill = () => {
    const { agents, installed } = installs
    const featured = new Set(installs.featured().map(({ id }) => id))
    const ordered = agents.toSorted((a, b) => Number(featured.has(b.id)) - Number(featured.has(a.id)))
    const active = box.activeItems[0]?.id
    box.items = ordered.map((agent): Item => {
      const there = installed.find(({ id }) => id === agent.id)
      return itemOf(installs, agent, there && l10n.t('{0} installed', there.version))
    })
    box.activeItems = box.items.filter(({ id }) => id === active)
    box.title = installs.problem ?? l10n.t('Install Agent')
  }
  const following = installs.onDidChange(fill)
  const planAll = () => installs.plan(installs.agents.map(({ id }) => id))
  void installs
    .load()
    .then(planAll)
    .then(() => installs.refresh())
    .then(planAll)
    .finally(() => {
      box.busy = false
    })
  fill()
  try {
    return await picked(box)
  } finally {
    following.dispose()
  }
}

async function pickUpdate(dialogs: Dialogs, installs: InstallManager): Promise<string | undefined> {
  await installs.load()
  // without installed agents, there are no updates to check for
  if (installs.installed.length === 0) throw new UnavailableError(noneInstalled())
  const title = l10n.t('Checking for updates of agents…')
  await dialogs.progress({ title, where: 'status-bar' }, () => installs.refresh())
  if (installs.problem !== undefined) throw new Error(installs.problem)
  const updates = installs.installed.flatMap(installed => {
    const agent = installs.updateOf(installed)
    return agent ? { installed, agent } : []
  })
  if (updates.length === 0) {
    void dialogs.info(l10n.t('All agents that Parley installed are up to date.'))
    return undefined
  }
  await installs.plan(updates.map(({ agent }) => agent.id))
  const items = updates.map(({ installed, agent }) =>
    itemOf(installs, agent, l10n.t('{0} installed', installed.version)),
  )
  const choice = await dialogs.pick(items, {
    title: l10n.t('Update Agent'),
    placeholder: l10n.t('Select an agent to update'),
  })
  return choice?.id
}

async function pickInstalled(dialogs: Dialogs, installs: InstallManager): Promise<string | undefined> {
  const items = installs.installed.map(({ id, name, version, description }) => ({
    label: name,
    description: version,
    detail: description,
    id,
  }))
  if (items.length === 0) throw new UnavailableError(noneInstalled())
  const choice = await dialogs.pick(items, {
    title: l10n.t('Remove Agent'),
    placeholder: l10n.t('Select an agent to remove'),
  })
  return choice?.id
}

function noneInstalled(): string {
  return l10n.t('No agents are installed by Parley. To install one, run “Parley: Install Agent…”.')
}

function itemOf(installs: InstallManager, agent: RegistryAgent, note: string | undefined): Item {
  const plan = installs.planOf(agent.id)
  return {
    label: withoutIcons(agent.name),
    description: withoutIcons([agent.version, note].filter(Boolean).join(' · ')),
    detail: withoutIcons([agent.description, plan && planText(plan)].filter(Boolean).join('  ')),
    id: agent.id,
  }
}

function picked(box: Picker<Item>): Promise<string | undefined> {
  return new Promise(resolve => {
    box.onDidAccept(item => {
      resolve(item?.id)
      box.hide()
    })
    box.onDidHide(() => {
      resolve(undefined)
      box.dispose()
    })
    box.show()
  })
}

/** Installs an agent and shows the progress in a notification. */
async function install(options: InstallCommandOptions, id: string): Promise<void> {
  const { installs, logs, workbench } = options
  const { dialogs } = workbench
  await installs.load()
  const nameOf = () => installs.find(id)?.name ?? installs.installed.find(one => one.id === id)?.name ?? id
  for (;;) {
    const outcome = await withProgress(dialogs, installs, id, nameOf(), () => installs.install(id))
    if (outcome === 'installed') return void tellInstalled(options, id)
    if (outcome === 'canceled') return
    const status = installs.status(id)
    if (status?.state !== 'failed') return
    const retry = l10n.t('Retry')
    const showOutput = l10n.t('Show Output')
    const help = status.help === undefined ? undefined : helpLabel(status.help)
    const buttons = [help, retry, status.output === '' ? undefined : showOutput].filter(
      text => text !== undefined,
    )
    const answer = await dialogs.error(plainMessage(status.message), ...buttons)
    if (answer === retry) continue
    installs.dismiss(id)
    if (answer === showOutput) {
      const agentId = agentIdOf(id)
      options.agentLogger(agentId, nameOf()).error(`${status.message}\n${status.output}`)
      logs.show(agentId, nameOf())
    } else if (answer !== undefined && status.help !== undefined) await workbench.openExternal(status.help)
    return
  }
}

function withProgress<T>(
  dialogs: Dialogs,
  installs: InstallManager,
  id: string,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const title = plainMessage(l10n.t('Installing {0}', name))
  return dialogs.progress({ title, where: 'notification', cancellable: true }, async (report, canceled) => {
    let share = 0
    const following = installs.onDidChange(() => {
      const status = installs.status(id)
      if (status?.state !== 'running') return
      const now = Math.round((status.share ?? 0) * 100)
      report({ message: plainMessage(status.step), increment: Math.max(0, now - share) })
      share = Math.max(share, now)
    })
    canceled.addEventListener('abort', () => installs.cancel(id), { once: true })
    try {
      return await work()
    } finally {
      following.dispose()
    }
  })
}

async function tellInstalled(
  { installs, running, restart, workbench: { dialogs, execute } }: InstallCommandOptions,
  id: string,
): Promise<void> {
  const agent = installs.installed.find(one => one.id === id)
  if (!agent) return
  const agentId = agentIdOf(id)
  const text = l10n.t('{0} {1} is installed.', agent.name, agent.version)
  // running agents keep their version until they end
  const isOld = running(agentId).length > 0
  const next = isOld ? l10n.t('Restart Agent') : l10n.t('New Session')
  const answer = await dialogs.info(plainMessage(text), next)
  if (answer === undefined) return
  if (isOld) await Promise.all(running(agentId).map(restart))
  else await execute(CommandId.newSessionWithAgent, agentId)
}
