import { homedir, release } from 'node:os'
import * as l10n from '@vscode/l10n'
import { redact } from '../../acp/redact.ts'
import { isRecord } from '../../common/is-record.ts'
import { hostPlatform } from '../../common/platform.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import { readSettingValue, SETTING_NAMES, SETTINGS, type SettingName } from '../../common/settings.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { ProtocolRecorder } from './protocol-recorder.ts'

/** The last messages of the list are included, at most as many, and about as many characters of them. */
const MAX_FRAMES = 200
const MAX_LENGTH = 300_000
/** Further agents are omitted. */
const MAX_AGENTS = 50
/** Longer values of settings are cut. Characters. */
const MAX_SETTING = 5000

/** How much of the messages a report contains. */
export type ReportDetail = 'structure' | 'whole' | 'none'

export interface ReportedAgent {
  name: string
  version?: string | undefined
  protocolVersion?: number | undefined
}

export interface ReportSources {
  detail: ReportDetail
  secrets: SecretRegistry
  /** Parley's version. */
  version: string
  /** the editor's name and version, and where it runs */
  editor: string
  agents: readonly ReportedAgent[]
  settingValues: Readonly<Partial<Record<SettingName, unknown>>>
  /** the messages as lines of JSON, without secrets, from the last one on */
  lines: Iterable<string>
}

/** A report for whoever is to find out what went wrong, as Markdown that the user checks, edits and shares. In English, as its readers are. */
export function problemReport(sources: ReportSources): string {
  const { agents, detail, editor, secrets, settingValues, version } = sources
  const lines = detail === 'none' ? [] : lastOf(sources.lines, detail)
  const named = agents.map(({ name, version: own, protocolVersion }) =>
    [
      oneLine(name),
      ...(own === undefined ? [] : [oneLine(own)]),
      ...(protocolVersion === undefined ? [] : [`(protocol version ${protocolVersion})`]),
    ].join(' '),
  )
  const text = [
    '# Problem report',
    "<!-- Nothing was sent. Check this report, remove what you don't want to share, then save or copy it. -->",
    '## What happened\n\n<!-- What did you do, what did you expect, and what happened instead? -->',
    [
      '## Versions\n',
      `- Parley ${version}`,
      `- ${editor}`,
      `- ${hostPlatform} ${release()} ${process.arch}`,
    ].join('\n'),
    `## Agents\n\n${named.length === 0 ? 'None.' : named.map(one => `- ${one}`).join('\n')}`,
    `## Settings that differ from the default\n\n${fenced('json', settingsText(settingValues))}`,
    ...(lines.length === 0
      ? []
      : [
          `## The last ${lines.length} protocol messages${detail === 'structure' ? ', without their texts' : ''}\n\n${fenced('jsonl', lines.join('\n'))}`,
        ]),
  ].join('\n\n')
  return `${withoutHome(secrets.redact(text))}\n`
}

/** What the user is asked for before a report is created. */
export function reportChoices(): Array<{ label: string; detail: string; value: ReportDetail }> {
  return [
    {
      label: l10n.t('Messages Without Their Texts'),
      detail: l10n.t('Methods, IDs, kinds and times. No prompts, answers, paths or file contents.'),
      value: 'structure',
    },
    {
      label: l10n.t('Whole Messages'),
      detail: l10n.t('Also prompts, answers, paths and file contents. Secrets are redacted.'),
      value: 'whole',
    },
    {
      label: l10n.t('No Messages'),
      detail: l10n.t('Only versions, agents and settings without secrets.'),
      value: 'none',
    },
  ]
}

/** The agents of open sessions, and those whose start was recorded. */
export function agentsOf(
  recorder: ProtocolRecorder,
  open: ReadonlyArray<Pick<OpenSession, 'agentId' | 'agentName' | 'session'>>,
): ReportedAgent[] {
  const agents = new Map<string, ReportedAgent>()
  const { frames } = recorder
  for (let n = frames.first; n < frames.next; n++) {
    const frame = frames.get(n)
    if (frame?.method !== 'initialize' || frame.kind !== 'response') continue
    const { result } = JSON.parse(recorder.jsonOf(frame)) as { result?: unknown }
    const info = isRecord(result) ? (result.info ?? result.agentInfo) : undefined
    const version = isRecord(info) && typeof info.version === 'string' ? info.version : undefined
    agents.set(frame.source.agentId, { name: frame.source.agent, version, protocolVersion: frame.version })
    if (agents.size >= MAX_AGENTS) break
  }
  for (const { agentId, agentName, session } of open)
    agents.set(agentId, {
      name: agentName,
      version: session.agent.info.version,
      protocolVersion: session.agent.protocolVersion,
    })
  return [...agents.values()]
}

function lastOf(lines: Iterable<string>, detail: ReportDetail): string[] {
  const last: string[] = []
  let length = 0
  for (const whole of lines) {
    const line = detail === 'structure' ? structureOf(whole) : whole.trimEnd()
    length += line.length
    if (last.length >= MAX_FRAMES || (length > MAX_LENGTH && last.length > 0)) break
    // a single message may be larger than all others together
    last.push(line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line)
  }
  return last.reverse()
}

/** Members whose texts say what a message is, not what was written. */
const KEPT = new Set([
  ...[
    'jsonrpc',
    'id',
    'method',
    'sessionId',
    'sessionUpdate',
    'toolCallId',
    'messageId',
    'terminalId',
    'requestId',
  ],
  ...['kind', 'type', 'role', 'status', 'state', 'stopReason', 'outcome', 'optionId', 'direction', 'version'],
])
/** Identifiers: no text of a person looks like one, except a single word. */
const IDENTIFIER = /^[\w./:$-]{1,64}$/
const NAME = /^[\w$-]{1,40}$/

/** A line without its texts, of which only the lengths are left. */
function structureOf(line: string): string {
  const bare = (value: unknown, key: string): unknown => {
    if (typeof value === 'string')
      return KEPT.has(key) && IDENTIFIER.test(value) ? value : `… (${value.length})`
    if (Array.isArray(value)) return value.map(one => bare(one, ''))
    if (!isRecord(value)) return value
    // the members of others are named by agents, tools or users
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        NAME.test(name) ? name : `… (${name.length})`,
        bare(one, name),
      ]),
    )
  }
  return JSON.stringify(bare(JSON.parse(line), ''))
}

function settingsText(values: ReportSources['settingValues']): string {
  const changed: Record<string, unknown> = {}
  for (const name of SETTING_NAMES) {
    const value = readSettingValue(name, values[name])
    if (JSON.stringify(value) === JSON.stringify(SETTINGS[name].default)) continue
    // it's a prompt
    const shown =
      name === 'systemPrompt'
        ? `… (${String(value).length})`
        : redact({ [name]: value }, { maxLength: MAX_SETTING })
    changed[`parley.${name}`] = isRecord(shown) ? shown[name] : shown
  }
  return JSON.stringify(changed, undefined, 2)
}

/** A fence that the text can't end. */
function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}`
}

function oneLine(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[<>[\]`*_|\\]/g, '')
    .slice(0, 200)
}

/** The user's name is a part of most paths. */
function withoutHome(text: string): string {
  const home = homedir()
  if (home.length < 3) return text
  return text.replaceAll(JSON.stringify(home).slice(1, -1), '~').replaceAll(home, '~')
}
