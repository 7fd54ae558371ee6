import { randomUUID } from 'node:crypto'
import * as l10n from '@vscode/l10n'
import { AGENT_ICON } from '../../common/agent-icon.ts'
import { EMPTY_DRAFT, isEmptyDraft, joinDrafts } from '../../common/draft.ts'
import { UnavailableError } from '../../common/errors.ts'
import { MAX_COMPARED_AGENTS, MIN_COMPARED_AGENTS } from '../../common/limits.ts'
import type { AgentEntry } from '../../sessions/ports.ts'
import type { PickItem, Workbench } from '../workbench.ts'
import { cwdOf, pickRepository, setupCommand } from '../worktrees/new-session-in-worktree.ts'
import type { CompareOptions } from './compare-options.ts'
import { startAgent } from './start-agents.ts'

/**
 * Sends the draft of a conversation to several agents that the user selects, each in its own worktree. Asks for the text of the prompt if
 * the draft is empty. If the prompt isn't sent, the text goes to the composer.
 */
export async function sendTo(options: CompareOptions, key: string): Promise<void> {
  const { agents, drafts, surfaces, workbench } = options
  await agents.ready()
  if (agents.list().length < MIN_COMPARED_AGENTS) {
    throw new UnavailableError(l10n.t('Install another agent first. At least two are needed.'))
  }
  const typed = drafts.get(key).text.trim() === '' ? await askForPrompt(workbench) : ''
  if (typed === undefined) return
  let isSent = false
  try {
    isSent = await send(options, key, typed)
  } finally {
    if (!isSent && typed !== '') (surfaces.withKey(key) ?? surfaces.active).write(typed)
  }
}

/** Resolves to the text of the prompt; `undefined` if the user cancels. */
async function askForPrompt({ dialogs }: Workbench): Promise<string | undefined> {
  const text = await dialogs.input({
    title: l10n.t('Send to Several Agents'),
    prompt: l10n.t('The prompt for all of the agents'),
    ignoreFocusOut: true,
    validate: value => (value.trim() === '' ? l10n.t('The prompt is empty.') : undefined),
  })
  return text?.trim()
}

/** Starts the agents. Resolves to false if no agent was started. `typed` is put before the draft. */
async function send(options: CompareOptions, key: string, typed: string): Promise<boolean> {
  const { comparisons, comparePage, drafts, surfaces, workbench } = options
  const found = await pickRepository(workbench, cwdOf((surfaces.withKey(key) ?? surfaces.active).controller))
  if (!found) return false
  const chosen = await pickAgents(options)
  if (!chosen) return false
  const setup = await setupCommand(options)
  // the draft may have changed while the list was open
  const written = drafts.get(key)
  const draft = typed === '' ? written : joinDrafts({ ...EMPTY_DRAFT, text: typed }, written)
  if (isEmptyDraft(draft)) return false
  const { repository, within } = found
  const id = randomUUID()
  const { top, head: commit, branch } = repository
  comparisons.add(
    {
      id,
      title: draft.text.trim().split('\n', 1)[0]!.slice(0, 300),
      at: Date.now(),
      from: { top, within, commit, ...(branch !== undefined && { branch }) },
    },
    chosen,
  )
  comparePage.show(id)
  const starts = chosen.map((_, agent) => startAgent(options, { id, agent }, draft, setup))
  try {
    await Promise.any(starts)
  } catch {
    // the page shows the reasons, and each agent's prompt is kept for Retry
    void workbench.dialogs.warn(l10n.t('No agent was started, so the prompt stays in the input.'))
    return false
  }
  if (JSON.stringify(drafts.get(key)) === JSON.stringify(written)) drafts.set(key, EMPTY_DRAFT)
  const sent = { key, text: written.text, ids: String(written.items.map(item => item.id)) }
  surfaces.withKey(key)?.sendToPage('composer/sent', sent)
  return true
}

/** Resolves to the agents that the user selects; `undefined` if the user cancels. */
async function pickAgents({
  agents,
  comparisons,
  workbench,
}: CompareOptions): Promise<AgentEntry[] | undefined> {
  const { dialogs } = workbench
  const [latest] = comparisons.list()
  let selected = new Set(latest?.participants.map(({ agentId }) => agentId))
  for (;;) {
    const items = agents.list().map((agent): PickItem & { agent: AgentEntry } => ({
      label: agent.name,
      icon: agent.icon ?? AGENT_ICON,
      ...(agent.description !== undefined && { description: agent.description }),
      picked: selected.has(agent.agentId),
      agent,
    }))
    const picked = await dialogs.pickMany(items, {
      title: l10n.t('Send to Several Agents'),
      placeholder: l10n.t(
        'Select {0} to {1} agents for worktrees without uncommitted changes',
        MIN_COMPARED_AGENTS,
        MAX_COMPARED_AGENTS,
      ),
      ignoreFocusOut: true,
    })
    if (!picked) return undefined
    if (picked.length >= MIN_COMPARED_AGENTS && picked.length <= MAX_COMPARED_AGENTS)
      return picked.map(({ agent }) => agent)
    void dialogs.warn(l10n.t('Select {0} to {1} agents.', MIN_COMPARED_AGENTS, MAX_COMPARED_AGENTS))
    selected = new Set(picked.map(({ agent }) => agent.agentId))
  }
}
