import { homedir, release } from 'node:os'
import * as l10n from '@vscode/l10n'
import { REDACTED, redact } from '../../acp/redact.ts'
import { isRecord } from '../../common/is-record.ts'
import { hostPlatform } from '../../common/platform.ts'
import type { SecretRegistry } from '../../common/secrets.ts'
import { readSettingValue, SETTING_NAMES, SETTINGS, type SettingName } from '../../common/settings.ts'
import { fenced } from '../../conversation/markdown.ts'
import type { OpenSession } from '../../sessions/open-session.ts'
import type { ProtocolRecorder } from './protocol-recorder.ts'
import { messageIn } from './recorded-frames.ts'

/**
 * The maximum number of messages in a report, and approximately their maximum total length in characters. The last messages are included.
 */
const MAX_FRAMES = 200
const MAX_LENGTH = 300_000
/** The maximum number of agents in a report. */
const MAX_AGENTS = 50
/** The length in characters beyond which values of settings are cut. */
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
  /** the messages as lines of JSON without secrets, the last one first */
  lines: Iterable<string>
}

/** Returns a problem report as Markdown, which the user checks, edits and shares. The report is in English, the language of its readers. */
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
    `## Settings that differ from the default\n\n${fenced(settingsText(settingValues), 'json')}`,
    ...(lines.length === 0
      ? []
      : [
          `## The last ${lines.length} protocol messages${detail === 'structure' ? ', without their texts' : ''}\n\n${fenced(lines.join('\n'), 'jsonl')}`,
        ]),
  ].join('\n\n')
  return `${withoutHome(secrets.redact(text))}\n`
}

/** Returns the choices that the user has before a report is created. */
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

/** Returns the agents of open sessions, and those whose start was recorded. */
export function agentsOf(
  recorder: ProtocolRecorder,
  open: ReadonlyArray<Pick<OpenSession, 'agentId' | 'agentName' | 'session'>>,
): ReportedAgent[] {
  const agents = new Map<string, ReportedAgent>()
  const { frames } = recorder
  for (let n = frames.first; n < frames.next; n++) {
    const frame = frames.get(n)
    if (frame?.method !== 'initialize' || frame.kind !== 'response') continue
    const result = messageIn(recorder.jsonOf(frame))?.result
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
    // a single message may be longer than all others together
    last.push(line.length > MAX_LENGTH ? `${line.slice(0, MAX_LENGTH)}…` : line)
  }
  return last.reverse()
}

/** Members whose texts are either words of the protocol or ids. Neither contains a path or a key. */
const WORDS = new Set([
  'direction',
  'kind',
  'outcome',
  'role',
  'sessionUpdate',
  'state',
  'status',
  'stopReason',
  'type',
])
const WORD = /^[a-z_][a-z_-]{0,39}$/i
const IDS = new Set([
  ...['id', 'jsonrpc', 'messageId', 'optionId', 'requestId', 'sessionId', 'terminalId', 'toolCallId'],
  'version',
])
const ID = /^[\w.:-]{1,64}$/
const METHOD = /^[\w./:$-]{1,64}$/
const NAME = /^[\w$-]{1,40}$/
/** Members whose content and member names come from tools, agents or users. */
const OPAQUE = /^(_meta|arguments|data|env|headers|rawInput|rawOutput|structuredContent)$/

/** Returns a line in which each text is replaced with its length. */
function structureOf(text: string): string {
  const line: unknown = JSON.parse(text)
  const method = isRecord(line) ? line.method : undefined
  // the members of an extension's or tool's result aren't known, and neither are those of an unknown request's result
  const isOwn = typeof method !== 'string' || /^(_|mcp\/)/.test(method)
  const bare = (value: unknown, key: string): unknown => {
    if (typeof value === 'string') return isStructure(value, key) ? value : `… (${value.length})`
    if (Array.isArray(value)) return value.map(one => bare(one, ''))
    if (!isRecord(value)) return value
    const isOpaque = (name: string) =>
      OPAQUE.test(name) ||
      // values that the user entered, and the content of an extension
      (name === 'content' && 'action' in value) ||
      (name === 'result' && isOwn) ||
      (name === 'params' && String(value.method).startsWith('_'))
    // other members may have names that agents, tools or users chose
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        NAME.test(name) ? name : `… (${name.length})`,
        isOpaque(name) && one !== null ? `… (${JSON.stringify(one).length})` : bare(one, name),
      ]),
    )
  }
  return JSON.stringify(bare(line, ''))
}

function isStructure(text: string, key: string): boolean {
  if (key === 'method') return METHOD.test(text)
  return (WORDS.has(key) && WORD.test(text)) || (IDS.has(key) && ID.test(text))
}

function settingsText(values: ReportSources['settingValues']): string {
  const changed: Record<string, unknown> = {}
  for (const name of SETTING_NAMES) {
    const value = readSettingValue(name, values[name])
    if (JSON.stringify(value) === JSON.stringify(SETTINGS[name].default)) continue
    const shown = redact(withoutPrivate({ [name]: value }), { maxLength: MAX_SETTING })
    changed[`parley.${name}`] = isRecord(shown) ? shown[name] : shown
  }
  return JSON.stringify(changed, undefined, 2)
}

/** The maximum depth of a setting's value. Deeper levels are omitted. */
const MAX_LEVELS = 50
/** Matches arguments that contain the value of a variable or header, or that are followed by it. */
const PAIR_ARGUMENT = /^(--(?:env|headers?)=[^=:]{1,256}[=:]|-[eH][\w-]{1,256}[=:])./s
const ENV_FLAG = /^(-e|--env)$/
/**
 * Matches a short option whose value may be a key. What follows the options of `npx -y package` and `python -m module` is a name and not a
 * key.
 */
const SHORT_OPTION = /^-(?![gimqsuvy]$)[a-z]$/i
/** Matches `-k=value` and `-kvalue`, but not `-it` or `-verbose`. */
const SHORT_WITH_VALUE = /^(-[a-z]=|-[a-z](?=[^-]*\d)(?=.{6})).+$/is

/** Returns a value without prompts, and without the values of variables and headers in arguments or in JSON within a text. */
function withoutPrivate(value: unknown, level = 0): unknown {
  if (typeof value === 'string') return withoutPrivateJson(value, level)
  if (typeof value !== 'object' || value === null) return value
  if (level > MAX_LEVELS) return '…'
  if (Array.isArray(value))
    return value.map((one: unknown, i) => {
      if (typeof one !== 'string') return withoutPrivate(one, level + 1)
      const name = PAIR_ARGUMENT.exec(one)?.[1] ?? (ENV_FLAG.test(value[i - 1]) && /^[^=]*=/.exec(one)?.[0])
      if (name) return name + REDACTED
      const before: unknown = value[i - 1]
      if (typeof before === 'string' && SHORT_OPTION.test(before) && !one.startsWith('-')) return REDACTED
      const option = SHORT_WITH_VALUE.exec(one)?.[1]
      return option === undefined ? withoutPrivateJson(one, level) : option + REDACTED
    })
  return Object.fromEntries(
    Object.entries(value).map(([key, one]) => [
      key,
      key === 'systemPrompt' ? `… (${JSON.stringify(one).length})` : withoutPrivate(one, level + 1),
    ]),
  )
}

/** Returns a text without the private values in the JSON that it contains, as in `--config={"env":{…}}`. */
function withoutPrivateJson(text: string, level: number): string {
  const start = text.search(/[{[]/)
  if (start < 0) return text
  try {
    const value: unknown = JSON.parse(text.slice(start))
    return text.slice(0, start) + JSON.stringify(redact(withoutPrivate(value, level + 1)))
  } catch {
    return text
  }
}

function oneLine(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/[<>[\]`*_|\\]/g, '')
    .slice(0, 200)
}

/**
 * Replaces the home folder, which contains the user's name, with `~`. Paths are written in many ways: in URLs, in JSON within JSON, or as
 * in Git Bash.
 */
export function withoutHome(text: string, home = homedir()): string {
  const [drive = '', ...rest] = home.split(/[\\/]/)
  const names = rest.filter(name => name !== '')
  if (names.length === 0) return text
  const quoted = (name: string) => name.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  const letter = drive[0]
  const roots = letter ? `(?:${letter}(?::|%3A)|(?:/mnt)?/${letter}(?=/))` : ''
  const path = names.map(name =>
    [name, encodeURIComponent(name)].map(quoted).filter((form, i, forms) => forms.indexOf(form) === i),
  )
  const pattern = [roots, ...path.map(forms => `(?:${forms.join('|')})`)].join(
    String.raw`(?:\\{1,8}|/|%2F|%5C)`,
  )
  // the pattern must not match the home of another user whose name starts with this user's name
  return text.replace(new RegExp(String.raw`${pattern}(?![\p{L}\p{N}])`, letter ? 'giu' : 'gu'), '~')
}
