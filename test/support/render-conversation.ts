import type { ContentBlock, ToolCallContent } from '../../src/acp/model.ts'
import type { Entry, SessionState } from '../../src/conversation/state.ts'

/** The maximum length of a text; of a longer one, its length and both ends are shown. */
const LONGEST = 600

/** A conversation as plain text: everything that a user can see, except what differs between runs. */
export function renderConversation(state: SessionState): string {
  const lines: string[] = []
  lines.push(`title: ${state.title ?? '—'}`)
  lines.push(`activity: ${state.activity}, turns: ${state.turn}`)
  if (state.usage) {
    const { used, size, cost, tokens } = state.usage
    const counted = tokens ? `; ${tokens.of}: ${tokens.input} in, ${tokens.output} out` : ''
    lines.push(`usage: ${used} of ${size}${cost ? `, ${cost.amount} ${cost.currency}` : ''}${counted}`)
  }
  for (const option of state.configOptions) {
    const choices =
      option.type === 'select' ? ` (${option.choices.map(({ value }) => value).join(', ')})` : ''
    const value = option.type === 'unknown' ? '?' : option.currentValue
    lines.push(`option ${option.id} [${option.category ?? '—'}]: ${value}${choices}`)
  }
  if (state.commands.length > 0) lines.push(`commands: ${state.commands.map(({ name }) => name).join(', ')}`)
  for (const plan of state.plans) {
    lines.push(`plan ${plan.planId}:`)
    for (const entry of plan.entries) lines.push(`  ${entry.status}: ${entry.content} (${entry.priority})`)
  }
  let turn = -1
  for (const entry of state.entries) {
    if (entry.turn !== turn) {
      turn = entry.turn
      lines.push('', `── turn ${turn}`)
    }
    const indent = entry.within === undefined ? '' : '    '
    lines.push(...renderEntry(entry).map(line => indent + line))
  }
  const terminals = [...state.terminals.values()]
  if (terminals.length > 0) lines.push('', '── terminals')
  for (const terminal of terminals) {
    const exit = terminal.exit ? `exit ${terminal.exit.exitCode ?? terminal.exit.signal}` : 'no exit'
    lines.push(
      `${terminal.terminalId}: ${terminal.command ?? '—'}, ${exit}${terminal.truncated ? ', truncated' : ''}`,
    )
    lines.push(...block(terminal.output))
  }
  return `${lines.join('\n')}\n`
}

function renderEntry(entry: Entry): string[] {
  switch (entry.kind) {
    case 'message':
      return [`${entry.role}:`, ...entry.blocks.flatMap(renderBlock)]
    case 'tool_call': {
      const name = entry.toolName ? ` ${entry.toolName}` : ''
      return [
        `tool${name} [${entry.toolKind}, ${entry.status}]: ${entry.title}`,
        ...entry.locations.map(({ path, line }) => `  at ${path}${line === undefined ? '' : `:${line}`}`),
        ...entry.content.flatMap(renderContent),
        ...(entry.content.length === 0 ? raw('output', entry.rawOutput) : []),
      ]
    }
    case 'permission': {
      const { outcome } = entry
      const answer = outcome?.type === 'selected' ? outcome.optionId : (outcome?.type ?? 'open')
      return [
        `permission: ${entry.title} → ${answer}`,
        ...(entry.command ? [`  ${entry.command.command}`] : []),
        ...entry.options.map(({ optionId, name, kind }) => `  [${kind}] ${name} (${optionId})`),
      ]
    }
    case 'elicitation': {
      const { ask, outcome } = entry
      return [
        `elicitation: ${entry.message} → ${outcome?.action ?? 'open'}${entry.visit ? ` (${entry.visit})` : ''}`,
        ...(ask.mode === 'url'
          ? [`  ${ask.url}`]
          : ask.fields.map(field => `  [${field.type}] ${field.title}`)),
        ...(outcome?.action === 'accept' ? raw('content', outcome.content) : []),
      ]
    }
    case 'notice':
      return [`notice [${entry.severity}]: ${entry.title}`, ...block(entry.description ?? '')]
    case 'compaction':
      return [`compaction: ${entry.status}`, ...entry.summary.flatMap(renderBlock)]
    case 'subagent': {
      const { title, description, state } = entry
      const reason = state?.stopReason ? `, ${state.stopReason}` : ''
      return [
        `subagent ${title ?? '—'} [${state?.activity ?? 'not known'}${reason}]`,
        ...block(description ?? ''),
        ...block(state?.error?.message ?? ''),
      ]
    }
    case 'session_message':
      return [
        `message between sessions, ${entry.from ? 'from another' : 'from here'}:`,
        ...entry.blocks.flatMap(renderBlock),
      ]
    case 'turn_end':
      return [
        `turn ended: ${entry.stopReason}${entry.error ? `, ${entry.error.message}` : ''}`,
        ...block(entry.error?.detail ?? ''),
      ]
    case 'unknown':
      return [`unknown ${entry.updateKind}`, ...raw('', entry.raw)]
  }
}

function renderBlock(content: ContentBlock): string[] {
  switch (content.type) {
    case 'text':
      return block(content.text)
    case 'image':
    case 'audio':
      return [`  [${content.type} ${content.mimeType}, ${content.data.length} characters]`]
    case 'resource_link':
      return [`  [link ${content.name}: ${content.uri}]`]
    case 'resource':
      return [`  [resource ${content.uri}]`, ...block(content.text ?? '')]
    case 'unknown':
      return [`  [unknown ${content.kind}]`]
  }
}

function renderContent(content: ToolCallContent): string[] {
  switch (content.type) {
    case 'content':
      return renderBlock(content.content)
    case 'diff':
      return [
        ...content.changes.flatMap(change => [
          `  ${change.operation} ${change.path}`,
          ...block(change.oldText ?? '').map(line => line.replace(/^ {2}│/, '  -')),
          ...block(change.newText ?? '').map(line => line.replace(/^ {2}│/, '  +')),
        ]),
        ...block(content.patch?.text ?? ''),
      ]
    case 'terminal':
      return [`  [terminal ${content.terminalId}]`]
    case 'unknown':
      return [`  [unknown ${content.kind}]`]
  }
}

function raw(name: string, value: unknown): string[] {
  if (value === undefined) return []
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return [`  raw ${name}:`.replace(/ :$/, ':'), ...block(text)]
}

function block(text: string): string[] {
  if (text === '') return []
  const characters = [...text]
  const shown =
    characters.length > LONGEST
      ? `${characters.slice(0, LONGEST / 2).join('')}\n… ${characters.length} characters …\n${characters.slice(-LONGEST / 4).join('')}`
      : text
  // Control characters would make the file binary.
  return shown.split('\n').map(line => `  │ ${visible(line)}`.trimEnd())
}

function visible(line: string): string {
  return [...line].map(escaped).join('')
}

function escaped(character: string): string {
  const code = character.charCodeAt(0)
  const isControl = (code < 0x20 && character !== '\t') || code === 0x7f
  return isControl ? `\\x${code.toString(16).padStart(2, '0')}` : character
}
