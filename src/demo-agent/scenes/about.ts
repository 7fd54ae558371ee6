import { randomUUID } from 'node:crypto'
import type { McpServer, StopReason } from '@agentclientprotocol/sdk'
import type { Turn } from '../turn.ts'

/** `/where`: what this session was given: folders, MCP servers, the client's abilities. */
export async function where(turn: Turn): Promise<void> {
  const [cwd, ...others] = turn.session.roots
  const folders = [`- \`${cwd}\` (the working directory)`, ...others.map(folder => `- \`${folder}\``)]
  const servers = turn.session.mcpServers.map(server => `- ${describeServer(server)}`)
  const features = Object.entries(turn.features).map(
    ([name, offered]) => `- ${name}: ${offered ? 'yes' : 'no'}`,
  )
  await turn.say(
    [
      '### Folders',
      ...folders,
      '',
      '### MCP servers',
      ...(servers.length > 0 ? servers : ['None were passed.']),
      ...(servers.length > 0 ? ['', 'I only report them: the demo agent connects to no MCP server.'] : []),
      '',
      '### What the client offers',
      ...features,
    ].join('\n'),
  )
}

/** Names only: environment and headers may hold secrets. */
function describeServer(server: McpServer): string {
  if ('command' in server)
    return `**${server.name}**: stdio, \`${[server.command, ...server.args].join(' ')}\``
  return `**${server.name}**: ${server.type}, ${server.url}`
}

const STOP_REASONS = ['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'] as const

/** `/stop [reason]`: ends the turn for one of the protocol's reasons. */
export async function stop(turn: Turn, input: string): Promise<void> {
  const reason = STOP_REASONS.find(candidate => candidate === input.trim()) ?? 'max_tokens'
  await turn.say(`This turn ends with the stop reason \`${reason}\`.`)
  turn.stopReason = reason satisfies StopReason
}

/** `/notice`: notices of every severity. */
export async function notice(turn: Turn): Promise<void> {
  if (!turn.features.notices) return turn.say('Your client offers no notices, so I may not send any.')
  await turn.emit({ sessionUpdate: 'notice', severity: 'info', title: 'The demo agent says hello' })
  await turn.emit({
    sessionUpdate: 'notice',
    severity: 'warning',
    title: 'The demo agent is running low on ideas',
    description: 'It has `12` left. This is what a warning with a description looks like.',
  })
  await turn.emit({
    sessionUpdate: 'notice',
    severity: 'error',
    title: 'Nothing went wrong, this is only shown',
  })
  await turn.say('Those were three notices.')
}

/** `/compact`: the context is summed up, with the summary streamed. */
export async function compact(turn: Turn): Promise<void> {
  if (turn.features.compaction) {
    const compactionId = randomUUID()
    await turn.emit({ sessionUpdate: 'compaction_update', compactionId, status: 'in_progress' })
    for (const text of ['You asked a demo agent ', 'to show what it can do, ', 'and it did.']) {
      await turn.emit({
        sessionUpdate: 'compaction_summary_chunk',
        compactionId,
        content: { type: 'text', text },
      })
      await turn.rest(300)
    }
    await turn.emit({ sessionUpdate: 'compaction_update', compactionId, status: 'completed' })
  }
  const before = turn.session.used
  turn.session.used = Math.min(before, 500)
  await turn.say(`The context went from about ${before} to about ${turn.session.used} tokens.`)
}
