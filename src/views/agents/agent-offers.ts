import type { InstallManager } from '../../agents/registry/install-manager.ts'
import type { Disposable } from '../../common/disposable.ts'
import type { AgentDirectory } from '../../sessions/ports.ts'
import type { AgentOffer } from '../bridge/conversation.ts'
import { failureNote, planWords } from './install-words.ts'

const hasNone = (agents: AgentDirectory) =>
  agents.isSearched() && agents.list().every(({ source }) => source === 'demo')

/** The agents that the empty view offers to install: where there is none, and while one of them is installed. */
export function agentOffers(agents: AgentDirectory, installs: InstallManager): AgentOffer[] {
  if (!installs.isOn) return []
  const featured = installs.featured()
  if (!hasNone(agents) && !featured.some(({ id }) => installs.status(id))) return []
  return featured.map(({ id, preset }) => {
    const plan = installs.planOf(id)
    const status = installs.status(id)
    return {
      id,
      name: preset.name,
      description: preset.description(),
      icon: installs.iconOf(id),
      ...(plan && { plan: planWords(plan) }),
      ...(plan && !(plan instanceof Error) && { action: plan.action }),
      ...(status?.state === 'running' && { running: status }),
      ...(status?.state === 'failed' && { failed: failureNote(status) }),
    }
  })
}

/** Works out what the offers would run as soon as it is known that there is no agent. Nothing is fetched. */
export function offerWhenNone(agents: AgentDirectory, installs: InstallManager): Disposable {
  let done = false
  const look = async () => {
    if (done || !installs.isOn || !hasNone(agents)) return
    done = true
    await installs.load()
    await installs.plan(installs.featured().map(({ id }) => id))
  }
  return agents.onDidChange(() => void look())
}
